#pragma once
// TD3, for continuous actions: a deterministic policy, and the smaller of two values (Fujimoto, van Hoof and Meger,
// "Addressing function approximation error in actor-critic methods", ICML 2018, algorithm 1). A value.

#include <cstddef>
#include <cstdint>

#include "programs/agents/agent.h"
#include "programs/agents/td3_targets.h"
#include "programs/networks/layered_network.h"

namespace lp {

struct Td3Options {
  MakeNetwork policy = dense_network({64, 64}, Unit::relu, 0.1F);
  MakeNetwork value = dense_network({64, 64}, Unit::relu);  // its inputs: an observation, then an action
  std::size_t copies = 4;                                   // environments of each actor
  std::size_t steps = 4;                                    // steps of each copy in a segment
  std::size_t batch = 128;
  std::uint64_t items = 100'000;     // room of the replay table
  std::uint64_t first_items = 1000;  // until then the actions are random, and nothing is learned
  double samples_per_insert = 128;
  float discount = 0.98F;
  float rate = 1e-3F;  // Adam's
  float noise = 0.1F;  // deviation of the noise of exploring actions, in halves of their range
  TargetNoise target_noise{};
  std::uint64_t delay = 2;  // updates of the values for each of the policy
  float tracking = 0.005F;  // the share by which the targets follow in an update of the policy
};

// For environments with continuous actions. Error::failed, when the learner is made, for other environments.
Agent td3(const Td3Options& options = {});

}  // namespace lp
