#include "programs/agents/segment.h"

namespace lp {

using Eigen::Index;

Segment act_out(EnvironmentBatch& environments, Policy& policy, Random& random, std::size_t steps) {
  const auto copies = static_cast<Index>(environments.copies());
  const auto columns = static_cast<Index>(steps) * copies;
  Segment out;
  out.observations.resize(environments.observations().rows(), columns + copies);
  out.actions.resize(environments.spec().action.size(), columns);
  out.log_probabilities.resize(copies, static_cast<Index>(steps));
  out.rewards.resize(copies, static_cast<Index>(steps));
  std::vector<float> last;
  Choice choice;
  for (Index t = 0; t < static_cast<Index>(steps); ++t) {
    out.observations.middleCols(t * copies, copies) = environments.observations();
    policy.explore(environments.observations(), random, choice);
    environments.step(choice.actions);
    out.actions.middleCols(t * copies, copies) = choice.actions;
    out.log_probabilities.col(t) = choice.log_probabilities.transpose();
    out.rewards.col(t) = environments.rewards();
    out.ends.insert(out.ends.end(), environments.ends().begin(), environments.ends().end());
    for (const FinishedEpisode& one : environments.finished()) {
      const auto observation = environments.last_observations().col(one.copy);
      last.insert(last.end(), observation.begin(), observation.end());
      out.finished.push_back(one);
    }
  }
  out.observations.rightCols(copies) = environments.observations();
  out.last_observations =
      Eigen::Map<const Eigen::MatrixXf>(last.data(), out.observations.rows(), static_cast<Index>(out.finished.size()));
  return out;
}

}  // namespace lp
