#pragma once
// Counts what a learner's actors have done. A value; owned by the learner's node, in its turn.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>

#include "lp/checkpoint/checkpoint.h"
#include "programs/environments/environment_batch.h"

namespace lp {

struct TrainingCounts {
  std::uint64_t steps = 0;     // environment steps that the learner knows of
  std::uint64_t episodes = 0;  // that ended in them
  std::uint64_t updates = 0;   // calls of learn()
  // Mean over the last 100 of these episodes; nothing before the first one ends.
  std::optional<double> recent_reward{};
  std::uint64_t stale = 0;  // segments that were dropped: a policy acted in them that was older than allowed
};

// The larger of each count, and the reward of `now`.
TrainingCounts most_of(const TrainingCounts& before, const TrainingCounts& now);

class TrainingCounter {
 public:
  const TrainingCounts& counts() const { return counts_; }

  void add_steps(std::uint64_t steps, std::span<const FinishedEpisode> finished);
  void add_update() { ++counts_.updates; }
  void add_stale() { ++counts_.stale; }

  void save(Checkpoint& out) const;
  void load(const Checkpoint& in);

 private:
  static constexpr std::size_t kRecent = 100;  // episodes

  TrainingCounts counts_{};
  std::deque<double> recent_{};  // rewards of the last episodes
};

}  // namespace lp
