#include "programs/experiments/training_counter.h"

#include <numeric>

namespace lp {

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
