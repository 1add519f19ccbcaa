#pragma once
// The time of a record. Pure function; any thread.

#include "lp/base/scheduler.h"

namespace lp::launch {

// Seconds since 1970, to the millisecond.
inline double wall_seconds() {
  const auto milliseconds = wall_clock() / 1'000'000;
  return static_cast<double>(milliseconds) / 1000;
}

}  // namespace lp::launch
