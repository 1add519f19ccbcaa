#pragma once
// PPO: several passes over each round's experience, with a bound on how far the policy moves (Schulman et al.,
// "Proximal policy optimization algorithms", 2017, algorithm 1). Actors and learner are in lock step. A value.

#include <cstddef>

#include "programs/agents/agent.h"
#include "programs/networks/layered_network.h"

namespace lp {

struct PpoOptions {
  MakeNetwork policy = dense_network({64, 64}, Unit::tanh, 0.01F);
  MakeNetwork value = dense_network({64, 64}, Unit::tanh);
  std::size_t copies = 8;  // environments of each actor
  std::size_t steps = 32;  // steps of each copy in a round
  int epochs = 10;         // passes over a round's experience
  std::size_t batch = 128;
  float rate = 1e-3F;  // Adam's; it falls to 0 over the training
  float discount = 0.98F;
  float decay = 0.8F;      // λ of the advantages
  float clip = 0.2F;       // bounds the ratio; it falls to 0 likewise
  float entropy = 0;       // weight of the policy's entropy
  float most_norm = 0.5F;  // bounds the length of a gradient
};

// For discrete and for continuous actions (action_distribution.h). Error::failed, when the learner is made, for an
// option that does not fit.
Agent ppo(const PpoOptions& options = {});

}  // namespace lp
