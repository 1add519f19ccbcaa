#include "nodes/stream/signal.h"

#include <utility>

namespace lp::dataflow {

void Signal::set() {
  std::optional<Promise<void>> waiter;
  {
    const std::lock_guard lock(mutex_);
    if (!waiter_) {
      set_ = true;
      return;
    }
    waiter = std::exchange(waiter_, std::nullopt);
  }
  waiter->set_value();
}

void Signal::wait(Duration most) {
  Future<void> woken;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(set_, false)) return;
    waiter_.emplace();
    woken = waiter_->future();
  }
  if (most == kForever) return woken.get();
  if (woken.get_for(most)) return;
  const std::lock_guard lock(mutex_);
  waiter_.reset();
}

}  // namespace lp::dataflow
