#pragma once
// How long it pays to look before one sleeps: as long as it takes the other side to answer, when it answers soon;
// hardly at all when it does not. Who looks lets others have the core in between, so that it takes no time from those
// who work; when they keep the core for long, it sleeps. Owned by one thread at a time.

#include <algorithm>
#include <chrono>

#include "lp/base/scheduler.h"

namespace lp::internal {

class Spin {
 public:
  // True as soon as ready() is; false when the time is over.
  template <class Ready>
  bool until(Ready ready) {
    if (gave_up_) learn(/*soon=*/false);  // nothing came at all
    if (rest_ > 0) {
      --rest_;
      return false;
    }
    begin_ = now();
    Time last = begin_;
    int looks = kLooks;
    do {
      for (int i = 0; i < looks; ++i) {
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
      looks = time - last > kShared ? kLooksBetween : kLooks;
      last = time;
    } while (last - begin_ < budget_);
    gave_up_ = true;
    return false;
  }

  // What until() has given up came after all: while one slept.
  void came_later() {
    if (gave_up_) learn(now() - begin_ < kMost);
  }

 private:
  void learn(bool soon) {
    budget_ = soon ? kMost : std::max(budget_ / 2, kLeast);
    gave_up_ = false;
  }

  static constexpr Duration kLeast = std::chrono::microseconds(4);
  static constexpr Duration kMost = std::chrono::microseconds(200);   // more than it takes two sides that sleep
  static constexpr Duration kShared = std::chrono::microseconds(4);   // since the last look: others had the core
  static constexpr Duration kTaken = std::chrono::microseconds(500);  // likewise, and they need it
  static constexpr int kLooks = 32;
  static constexpr int kLooksBetween = 2;  // when others need the core
  static constexpr int kLeastPause = 16;   // waits without a look
  static constexpr int kMostPause = 512;   // what is learnt now holds for a moment only: threads move
  Duration budget_ = kMost;
  Time begin_{};
  bool gave_up_ = false;
  int rest_ = 0;
  int pause_ = kLeastPause;
};

}  // namespace lp::internal
