#pragma once
// Decides how long a thread polls before it sleeps: as long as the other side takes to answer if it answers soon, and
// hardly at all otherwise. While polling, the thread lets others have the core in between, so that it takes no time
// from working threads. When they keep the core for long, it sleeps. Owned by one thread at a time.

#include <algorithm>
#include <chrono>

#include "lp/base/scheduler.h"

namespace lp::rpc {

class Spin {
 public:
  // Returns true as soon as ready() is true, and false when the time is over.
  template <class Ready>
  bool until(Ready ready) {
    if (gave_up_) learn(/*soon=*/false);  // nothing came at all
    if (rest_ > 0) {
      --rest_;
      return false;
    }
    begin_ = now();
    Time last = begin_;
    int polls = kPolls;
    do {
      for (int i = 0; i < polls; ++i) {
        if (ready()) {
          learn(/*soon=*/true);
          pause_ = kLeastPause;
          return true;
        }
        relax();
      }
      step_aside();
      const Time time = now();
      if (time - last > kTaken) {
        rest_ = pause_;
        pause_ = std::min(2 * pause_, kMostPause);
        return ready();
      }
      polls = time - last > kShared ? kPollsBetween : kPolls;
      last = time;
    } while (last - begin_ < budget_);
    gave_up_ = true;
    return false;
  }

  // Notes that the event came after until() had given up, while the thread slept.
  void came_later() {
    if (gave_up_) learn(now() - begin_ < kMost);
  }

 private:
  void learn(bool soon) {
    budget_ = soon ? kMost : std::max(budget_ / 2, kLeast);
    gave_up_ = false;
  }

  static constexpr Duration kLeast = std::chrono::microseconds(4);
  static constexpr Duration kMost = std::chrono::microseconds(200);   // more than two sides that sleep need
  static constexpr Duration kShared = std::chrono::microseconds(4);   // time since the last poll: others had the core
  static constexpr Duration kTaken = std::chrono::microseconds(500);  // time since the last poll: others need the core
  static constexpr int kPolls = 32;
  static constexpr int kPollsBetween = 2;  // polls in between when others need the core
  static constexpr int kLeastPause = 16;   // waits without a poll
  static constexpr int kMostPause = 512;   // the limit is low because threads move between cores
  Duration budget_ = kMost;
  Time begin_{};
  bool gave_up_ = false;
  int rest_ = 0;
  int pause_ = kLeastPause;
};

}  // namespace lp::rpc
