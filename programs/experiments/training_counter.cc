#include "programs/experiments/training_counter.h"

#include <algorithm>
#include <numeric>

namespace lp {

TrainingCounts most_of(const TrainingCounts& before, const TrainingCounts& now) {
  return {.steps = std::max(before.steps, now.steps),
          .episodes = std::max(before.episodes, now.episodes),
          .updates = std::max(before.updates, now.updates),
          .recent_reward = now.recent_reward,
          .stale = std::max(before.stale, now.stale)};
}

void TrainingCounter::add_steps(std::uint64_t steps, std::span<const FinishedEpisode> finished) {
  counts_.steps += steps;
  counts_.episodes += finished.size();
  for (const FinishedEpisode& one : finished) recent_.push_back(one.reward);
  while (recent_.size() > kRecent) recent_.pop_front();
  if (recent_.empty()) return;
  counts_.recent_reward = std::accumulate(recent_.begin(), recent_.end(), 0.0) / static_cast<double>(recent_.size());
}

void TrainingCounter::save(Checkpoint& out) const {
  out.put("counts", counts_);
  out.put("recent", recent_);
}

void TrainingCounter::load(const Checkpoint& in) {
  counts_ = in.get<TrainingCounts>("counts");
  recent_ = in.get<std::deque<double>>("recent");
}

}  // namespace lp
