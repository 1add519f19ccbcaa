#pragma once
// The threads that wait for a change of a run, and the lock of what they wait for. Any thread may use it.

#include <mutex>
#include <vector>

#include "lp/base/function.h"
#include "lp/base/scheduler.h"

namespace lp::internal {

class Waiters {
 public:
  // Calls `change` under the lock, and wakes the threads that wait.
  void change(Function<void()> change);
  // Calls `met` under the lock until it returns true, now and after each change. Returns false when `until` passed
  // first.
  bool wait(Function<bool()> met, Time until);

 private:
  std::mutex mutex_;
  std::vector<Event*> waiting_;
};

}  // namespace lp::internal
