#include "nodes/mapreduce/task_book.h"

#include <algorithm>
#include <utility>

namespace lp::dataflow {

TaskBook::TaskBook(std::size_t tasks, bool backups, Clock clock) : tasks_(tasks), copies_(backups), clock_(clock) {}

std::optional<std::uint32_t> TaskBook::give(std::uint32_t worker, const Preference& preference) {
  std::optional<std::uint32_t> best;
  std::pair<bool, std::uint64_t> best_rank;
  for (std::uint32_t i = 0; i < tasks_.size(); ++i) {
    const Task& one = tasks_[i];
    if (one.done || !one.attempts.empty()) continue;
    const std::pair rank(!one.failed_by.contains(worker), preference ? preference(i) : 0);
    if (best && rank <= best_rank) continue;
    best = i;
    best_rank = rank;
  }
  if (!best) {
    best = late_task(worker);
    if (!best) return best;
    ++backups_given_;
  }
  tasks_[*best].attempts.push_back({.worker = worker, .since = clock_()});
  ++attempts_;
  return best;
}

Duration TaskBook::late() const {
  if (!copies_ || durations_.empty()) return kForever;
  const Duration median = durations_[durations_.size() / 2];
  return from_seconds(kLate * to_seconds(median));
}

// When a task that somebody does is late.
Time TaskBook::late_at(const Task& task) const { return later(task.attempts.front().since, late()); }

std::optional<std::uint32_t> TaskBook::late_task(std::uint32_t worker) const {
  std::optional<std::uint32_t> oldest;
  for (std::uint32_t i = 0; i < tasks_.size(); ++i) {
    const Task& one = tasks_[i];
    if (one.done || one.attempts.size() >= kCopies || one.attempts.front().worker == worker) continue;
    if (clock_() < late_at(one)) continue;
    if (!oldest || one.attempts.front().since < tasks_[*oldest].attempts.front().since) oldest = i;
  }
  return oldest;
}

Duration TaskBook::until_late() const {
  Duration out = kForever;
  for (const Task& one : tasks_) {
    if (one.done || one.attempts.size() != 1) continue;
    if (const Time at = late_at(one); at != kNever) out = std::min(out, std::max(at - clock_(), Duration::zero()));
  }
  return out;
}

bool TaskBook::done(std::uint32_t task, std::uint32_t worker) {
  Task& one = tasks_.at(task);
  for (const Attempt& attempt : one.attempts) {
    if (attempt.worker != worker || one.done) continue;
    const Duration took = clock_() - attempt.since;
    durations_.insert(std::upper_bound(durations_.begin(), durations_.end(), took), took);
  }
  take_back(task, worker);
  if (std::exchange(one.done, true)) return false;
  ++done_;
  return true;
}

std::uint32_t TaskBook::fail(std::uint32_t task, std::uint32_t worker) {
  take_back(task, worker);
  tasks_.at(task).failed_by.insert(worker);
  return ++tasks_.at(task).failures;
}

void TaskBook::take_back(std::uint32_t worker) {
  for (std::uint32_t i = 0; i < tasks_.size(); ++i) take_back(i, worker);
}

void TaskBook::take_back(std::uint32_t task, std::uint32_t worker) {
  std::erase_if(tasks_.at(task).attempts, [worker](const Attempt& one) { return one.worker == worker; });
}

void TaskBook::undo(std::uint32_t task) {
  if (std::exchange(tasks_.at(task).done, false)) --done_;
}

std::set<std::uint32_t> TaskBook::busy() const {
  std::set<std::uint32_t> out;
  for (const Task& one : tasks_) {
    for (const Attempt& attempt : one.attempts) out.insert(attempt.worker);
  }
  return out;
}

}  // namespace lp::dataflow
