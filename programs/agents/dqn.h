#pragma once
// DQN with double Q-learning, a dueling network, n-step returns and prioritized replay (Mnih et al., Nature 518, 2015;
// q_values.h, transitions.h and nodes/replay have the sources of the parts; Hessel et al., "Rainbow", AAAI 2018, joins
// them). A value.

#include <cstddef>
#include <cstdint>

#include "programs/agents/agent.h"
#include "programs/networks/layered_network.h"

namespace lp {

struct DqnOptions {
  MakeNetwork network = dense_network({128, 128}, Unit::relu);  // with one output more than choices: it is dueling
  std::size_t copies = 8;                                       // environments of each actor
  std::size_t steps = 4;                                        // steps of each copy in a segment
  std::size_t batch = 32;
  std::uint64_t items = 50'000;      // room of the replay table
  std::uint64_t first_items = 1000;  // the learner begins when the table has so many
  double samples_per_insert = 16;
  double priority_exponent = 0.6;
  NStep n_step{.steps = 5, .discount = 0.99F};
  float rate = 1.5e-3F;  // Adam's; it falls to 0 over the training
  // The share by which a second network follows the one that learns, in each update (Lillicrap et al., "Continuous
  // control with deep reinforcement learning", 2016, section 3). It gives the targets, and the policy, which is
  // steadier.
  float tracking = 0.005F;
  float most_norm = 10;  // bounds the length of a gradient
  // The probability of an action at random falls from 1 to `least_chance` over this share of the training.
  float least_chance = 0.02F;
  float falling = 0.2F;
};

// For environments with discrete actions. Error::failed, when the learner is made, for other environments.
Agent dqn(const DqnOptions& options = {});

}  // namespace lp
