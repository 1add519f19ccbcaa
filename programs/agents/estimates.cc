#include "programs/agents/estimates.h"

#include <cstddef>
#include <string>

#include "lp/base/error.h"

namespace lp {

using Eigen::Index;

Trajectory trajectory_of(const Segment& segment, Network& value, const Network::Parameters& parameters) {
  if (value.outputs() != 1) {
    throw Error(ErrorKind::failed, "a value network must have one output, not " + std::to_string(value.outputs()));
  }
  const Index copies = segment.copies();
  const Index columns = segment.rewards.size();
  const Eigen::MatrixXf all = value.forward(parameters, segment.observations).reshaped(copies, segment.steps() + 1);
  Trajectory out{.rewards = segment.rewards,
                 .values = all.leftCols(segment.steps()),
                 .next_values = all.rightCols(segment.steps()),
                 .goes_on = Eigen::MatrixXf::Ones(copies, segment.steps())};
  if (segment.finished.empty()) return out;
  const Eigen::MatrixXf& last = value.forward(parameters, segment.last_observations);
  for (Index column = 0, episode = 0; column < columns; ++column) {
    const EpisodeEnd end = segment.ends[static_cast<std::size_t>(column)];
    if (end == EpisodeEnd::none) continue;
    out.goes_on(column) = 0;
    out.next_values(column) = end == EpisodeEnd::truncated ? last(episode) : 0.0F;
    ++episode;
  }
  return out;
}

}  // namespace lp
