#pragma once
// Experience: some steps of all copies of an actor, as actors send it to learners. Values; one thread at a time.

#include <cstdint>
#include <vector>

#include <Eigen/Core>

#include "lp/base/random.h"
#include "lp/wire/eigen.h"
#include "programs/agents/policy.h"
#include "programs/environments/environment_batch.h"

namespace lp {

// In matrices of observations and actions, column t · copies + c belongs to step t of copy c. The other matrices are
// copies × steps.
struct Segment {
  Eigen::MatrixXf observations{};  // those acted in, then those that follow the last step
  Eigen::MatrixXf actions{};
  Eigen::MatrixXf log_probabilities{};  // the actions', by the policy that acted
  Eigen::MatrixXf rewards{};
  std::vector<EpisodeEnd> ends{};       // by column
  Eigen::MatrixXf last_observations{};  // at the ends of episodes, in the order of their columns
  std::vector<FinishedEpisode> finished{};
  std::uint64_t updates = 0;  // those of the parameters that acted

  Eigen::Index copies() const { return rewards.rows(); }
  Eigen::Index steps() const { return rewards.cols(); }
  std::uint64_t size() const { return static_cast<std::uint64_t>(rewards.size()); }  // environment steps
};

// Acts `steps` times in every copy. Errors as EnvironmentBatch::step.
Segment act_out(EnvironmentBatch& environments, Policy& policy, Random& random, std::size_t steps);

}  // namespace lp
