#pragma once
// The requests that wait for an inference server: when the next batch begins, which of them are in it, and which cannot
// be answered in time. It knows no clock: its caller passes the time, which never goes backwards.
//
// Owned by a server; its lock guards it.

#include <algorithm>
#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/scheduler.h"
#include "lp/base/text.h"
#include "nodes/serving/batch_cost.h"

namespace lp {

struct BatchOptions {
  std::size_t most = 64;                         // requests in a batch
  Duration wait = std::chrono::milliseconds(1);  // the first request of a batch waits so long for others
  std::size_t room = 10'000;                     // requests that wait
};

// Throws Error::failed when an option does not fit.
void check(const BatchOptions& options);
// Throw Error::overloaded for a request that is not taken.
[[noreturn]] void refuse_without_room(std::size_t room);
[[noreturn]] void refuse_late(Duration needed, Duration left);

template <class T>
class BatchQueue {
 public:
  explicit BatchQueue(const BatchOptions& options) : options_(options) { check(options); }

  // Takes a request that must be answered by `deadline`. Throws Error::overloaded when there is no room for it, or when
  // those before it leave it too little time; the item then stays as it is. A server that has nothing else to do takes
  // every request: so it learns when a batch takes less time again.
  void add(T&& item, Time deadline, Time now) {
    if (waiting_.size() >= options_.room) refuse_without_room(options_.room);
    const bool idle = waiting_.empty() && running_ == 0;
    const Duration needed = time_for_one_more(now);
    if (!idle && later(now, needed) > deadline) refuse_late(needed, deadline - now);
    Time due = later(now, options_.wait);
    if (deadline != kNever) due = std::min(due, deadline - cost_.estimate(waiting_.size() % options_.most + 1));
    waiting_.push_back({.item = std::move(item), .deadline = deadline, .due = due, .probe = idle});
  }

  bool empty() const { return waiting_.empty(); }
  bool full() const { return waiting_.size() >= options_.most; }

  // When the next batch begins, if none runs; a time in the past means now. kNever when nothing waits.
  Time due() const {
    if (full()) return Time::min();
    Time due = kNever;
    for (const Waiting& one : waiting_) due = std::min(due, one.due);
    return due;
  }

  struct Batch {
    std::vector<T> items{};
    std::vector<T> late{};  // their answers would come too late
  };
  // Begins a batch of those that have waited longest; end() must follow.
  Batch begin(Time now) {
    Batch batch;
    const Time done = later(now, cost_.estimate(std::min(waiting_.size(), options_.most)));
    while (!waiting_.empty() && batch.items.size() < options_.most) {
      Waiting& first = waiting_.front();
      const Time answered = first.probe ? now : done;
      const bool late = answered > first.deadline;
      (late ? batch.late : batch.items).push_back(std::move(first.item));
      waiting_.pop_front();
    }
    began_ = now;
    running_ = batch.items.size();
    return batch;
  }
  // The batch is done, `computed` of whose items were computed.
  void end(std::size_t computed, Time now) {
    if (computed > 0) cost_.measured(computed, now - began_);
    running_ = 0;
  }

 private:
  struct Waiting {
    T item;
    Time deadline;
    Time due;    // its batch begins by then
    bool probe;  // taken whatever the estimate said
  };

  // The time until the answer of a request that comes now: the rest of the running batch, the full batches of those
  // that wait, and its own batch, which fills while others run.
  Duration time_for_one_more(Time now) const {
    const auto batches = static_cast<std::int64_t>(waiting_.size() / options_.most);
    Duration needed = batches * cost_.estimate(options_.most);
    if (running_ > 0) needed += std::max(Duration::zero(), began_ + cost_.estimate(running_) - now);
    const bool alone = batches == 0 && running_ == 0;
    return needed + cost_.estimate(alone ? waiting_.size() + 1 : options_.most);
  }

  const BatchOptions options_;
  BatchCost cost_{};
  std::deque<Waiting> waiting_{};
  Time began_{};             // the running batch
  std::size_t running_ = 0;  // its items
};

}  // namespace lp
