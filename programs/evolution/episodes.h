#pragma once
// Episodes of an environment as an objective: the parameters are those of a policy's network, the value is the mean
// reward of some episodes. Values; the objective and the policy that they make are owned by a node.

#include <cstddef>

#include "programs/agents/policy.h"
#include "programs/environments/environment.h"
#include "programs/evolution/objective.h"
#include "programs/networks/layered_network.h"

namespace lp {

struct EpisodeOptions {
  MakeEnvironment environment{};
  MakeNetwork network = dense_network({16}, Unit::tanh, 0.01F);
  std::size_t episodes = 1;  // in each evaluation
  bool normalize = true;     // observations, by the mean and deviation of all that were seen
};

// Error::failed when an option does not fit. The objective throws as EnvironmentBatch does.
MakeObjective episode_objective(const EpisodeOptions& options);

// The policy of the searched parameters: it takes the action with the largest output, or, where actions are continuous,
// the tanh of the outputs, scaled. It does not explore.
MakePolicy episode_policy(const EpisodeOptions& options);

}  // namespace lp
