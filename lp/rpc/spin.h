#pragma once
// How long it pays to look before one sleeps: a little while when what is awaited comes while one looks, because the
// other side runs on another core; hardly ever when it does not, or when there are more threads than cores and looking
// takes the time from those who work. Now and then it looks for long: two sides that both sleep are slow to wake each
// other, and would never see one another by short looks. Owned by one thread at a time.

#include <algorithm>
#include <chrono>

#include "lp/base/scheduler.h"

namespace lp::internal {

class Spin {
 public:
  // True as soon as ready() is; false when the time is over.
  template <class Ready>
  bool until(Ready ready) {
    if (rest_ > 0) {
      --rest_;
      return false;
    }
    const Time begin = now();
    Time last = begin;
    bool came = false;
    bool alone = true;  // nobody took this core meanwhile
    do {
      for (int i = 0; i < kLooks && !came; ++i) {
        came = ready();
        relax();
      }
      const Time time = now();
      alone = alone && time - last < kTaken;
      last = time;
    } while (!came && last - begin < budget_);

    if (came && alone) {
      budget_ = std::clamp(2 * (last - begin), 2 * kLeast, kMost);
      pause_ = kLeastPause;
    } else if (alone && budget_ / 2 > kLeast && !probes_) {
      budget_ /= 2;
    } else {
      rest_ = pause_;
      pause_ = std::min(2 * pause_, kMostPause);
      budget_ = kProbe;
    }
    probes_ = rest_ > 0;
    return came;
  }

 private:
  static constexpr Duration kLeast = std::chrono::microseconds(4);
  static constexpr Duration kMost = std::chrono::microseconds(50);
  static constexpr Duration kProbe = std::chrono::microseconds(64);  // longer than two sides that sleep take
  static constexpr Duration kTaken = std::chrono::microseconds(200);
  static constexpr int kLooks = 32;
  static constexpr int kLeastPause = 64;  // waits without a look
  static constexpr int kMostPause = 512;  // what is learnt now holds for a moment only: threads move
  Duration budget_ = kProbe;
  bool probes_ = true;  // the next look is one of those for long
  int rest_ = 0;
  int pause_ = kLeastPause;
};

}  // namespace lp::internal
