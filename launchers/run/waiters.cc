#include "launchers/run/waiters.h"

namespace lp::internal {

void Waiters::change(Function<void()> change) {
  const std::lock_guard lock(mutex_);
  change();
  for (Event* event : waiting_) event->set();
}

bool Waiters::wait(Function<bool()> met, Time until) {
  Event event;
  std::unique_lock lock(mutex_);
  if (met()) return true;
  waiting_.push_back(&event);
  for (bool in_time = true;;) {
    lock.unlock();
    in_time = event.wait(until);
    lock.lock();
    const bool is_met = met();
    if (in_time && !is_met) continue;
    std::erase(waiting_, &event);
    return is_met;
  }
}

}  // namespace lp::internal
