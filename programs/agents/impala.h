#pragma once
// IMPALA: actors put segments into a queue, and the learner corrects for the age of the policy that acted with V-trace
// (Espeholt et al., "IMPALA: scalable distributed deep-RL with importance weighted actor-learner architectures", ICML
// 2018). A value.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "programs/agents/agent.h"
#include "programs/agents/vtrace.h"
#include "programs/networks/layered_network.h"

namespace lp {

struct ImpalaOptions {
  MakeNetwork policy = dense_network({64, 64}, Unit::tanh, 0.01F);
  MakeNetwork value = dense_network({64, 64}, Unit::tanh);
  std::size_t copies = 8;                   // environments of each actor
  std::size_t steps = 20;                   // steps of each copy in a segment
  std::size_t batch = 1;                    // segments that it learns from at a time
  std::size_t room = 2;                     // segments that wait in the queue
  std::optional<std::uint64_t> most_age{};  // see Queued
  VtraceOptions vtrace{};
  float rate = 2e-3F;  // Adam's; it falls to 0 over the training
  // Weight of the policy's entropy. Advantages are not scaled: with a tenth of this weight, one training of CartPole in
  // fifty with a goal of 475 ends with a policy that always chooses the same action.
  float entropy = 0.1F;
  float most_norm = 0.5F;  // bounds the length of a gradient
};

// For environments with discrete actions. Error::failed, when the learner is made, for other environments.
Agent impala(const ImpalaOptions& options = {});

}  // namespace lp
