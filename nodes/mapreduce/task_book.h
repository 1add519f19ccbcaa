#pragma once
// Which tasks are done, which are being done, and which one a worker gets next. Pure bookkeeping: it knows no files and
// no nodes. Owned by a master, in its turn.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "lp/base/scheduler.h"

namespace lp::dataflow {

class TaskBook {
 public:
  // Near the end a task gets a backup copy when it has taken so much longer than the median of those that are done.
  static constexpr double kLate = 1.2;
  static constexpr std::size_t kCopies = 2;  // the most of a task at a time
  // How much a worker prefers a task, for instance the bytes that it has of the task's input.
  using Preference = std::function<std::uint64_t(std::uint32_t task)>;

  using Clock = Time (*)() noexcept;

  explicit TaskBook(std::size_t tasks, bool backups = true, Clock clock = now);

  std::size_t tasks() const { return tasks_.size(); }
  std::size_t done_count() const { return done_; }
  bool complete() const { return done_ == tasks_.size(); }
  bool is_done(std::uint32_t task) const { return tasks_.at(task).done; }
  std::uint64_t attempts() const { return attempts_; }
  std::uint64_t backups() const { return backups_given_; }

  // A task that nobody does: of those the one that the worker prefers, and has not failed. When there is none, a copy
  // of a task that is late. At most `compared` tasks are asked for their preference.
  std::optional<std::uint32_t> give(std::uint32_t worker, const Preference& preference,
                                    std::size_t compared = SIZE_MAX);
  // The time until a task is late, of those that are done by one worker; kForever when no such time is known.
  Duration until_late() const;

  // Returns false when it was done before.
  bool done(std::uint32_t task, std::uint32_t worker);
  // Takes an attempt back that has failed. Returns how often the task has failed.
  std::uint32_t fail(std::uint32_t task, std::uint32_t worker);
  // Takes back all tasks that a worker does: it is gone, or has lost them.
  void take_back(std::uint32_t worker);
  void take_back(std::uint32_t task, std::uint32_t worker);
  // From now on the task is done by one worker at a time: it may end the process that does it.
  void forbid_copies(std::uint32_t task) { tasks_.at(task).copies = false; }
  // A task that was done must be done again: its result is lost.
  void undo(std::uint32_t task);
  // The workers that do a task now.
  std::set<std::uint32_t> busy() const;

 private:
  struct Attempt {
    std::uint32_t worker = 0;
    Time since{};
  };
  struct Task {
    bool done = false;
    bool copies = true;
    std::vector<Attempt> attempts{};  // that are running
    std::uint32_t failures = 0;
    std::set<std::uint32_t> failed_by{};
  };

  void update_open(std::uint32_t task);
  Duration late() const;
  Time late_at(const Task& task) const;
  std::optional<std::uint32_t> late_task(std::uint32_t worker) const;

  std::vector<Task> tasks_;
  std::set<std::uint32_t> open_{};                            // tasks that are not done, and that nobody does
  std::map<std::uint32_t, std::set<std::uint32_t>> doing_{};  // by worker: the tasks that it does
  bool copies_;
  Clock clock_;
  std::size_t done_ = 0;
  std::uint64_t attempts_ = 0;
  std::uint64_t backups_given_ = 0;
  std::vector<Duration> durations_{};  // those of the tasks that are done, sorted
};

}  // namespace lp::dataflow
