#include "nodes/mapreduce/task_book.h"

#include <algorithm>
#include <utility>

namespace lp::dataflow {

TaskBook::TaskBook(std::size_t tasks, bool backups, Clock clock) : tasks_(tasks), copies_(backups), clock_(clock) {
  for (std::uint32_t i = 0; i < tasks_.size(); ++i) update_open(i);
}

void TaskBook::update_open(std::uint32_t task) {
  const Task& one = tasks_[task];
  if (one.done || !one.attempts.empty()) {
    open_.erase(task);
  } else {
    open_.insert(open_.end(), task);
  }
}

std::optional<std::uint32_t> TaskBook::give(std::uint32_t worker, const Preference& preference, std::size_t compared) {
  std::optional<std::uint32_t> best;
  std::pair<bool, std::uint64_t> best_rank;
  for (const std::uint32_t i : open_) {
    if (best && best_rank.first && (!preference || compared == 0)) break;
    if (compared > 0) --compared;
    const Task& one = tasks_[i];
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
  doing_[worker].insert(*best);
  update_open(*best);
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
    if (one.done || !one.copies || one.attempts.size() >= kCopies || one.attempts.front().worker == worker) continue;
    if (clock_() < late_at(one)) continue;
    if (!oldest || one.attempts.front().since < tasks_[*oldest].attempts.front().since) oldest = i;
  }
  return oldest;
}

Duration TaskBook::until_late() const {
  Duration out = kForever;
  for (const Task& one : tasks_) {
    if (one.done || !one.copies || one.attempts.size() != 1) continue;
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
  update_open(task);
  ++done_;
  return true;
}

std::uint32_t TaskBook::fail(std::uint32_t task, std::uint32_t worker) {
  take_back(task, worker);
  tasks_.at(task).failed_by.insert(worker);
  return ++tasks_.at(task).failures;
}

void TaskBook::take_back(std::uint32_t worker) {
  const auto doing = doing_.find(worker);
  if (doing == doing_.end()) return;
  for (const std::uint32_t task : std::set(doing->second)) take_back(task, worker);
}

void TaskBook::take_back(std::uint32_t task, std::uint32_t worker) {
  std::erase_if(tasks_.at(task).attempts, [worker](const Attempt& one) { return one.worker == worker; });
  if (const auto doing = doing_.find(worker); doing != doing_.end()) {
    doing->second.erase(task);
    if (doing->second.empty()) doing_.erase(doing);
  }
  update_open(task);
}

void TaskBook::undo(std::uint32_t task) {
  if (std::exchange(tasks_.at(task).done, false)) --done_;
  update_open(task);
}

std::set<std::uint32_t> TaskBook::busy() const {
  std::set<std::uint32_t> out;
  for (const auto& [worker, tasks] : doing_) out.insert(worker);
  return out;
}

}  // namespace lp::dataflow
