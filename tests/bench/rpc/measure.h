#pragma once
// The measured work, the same for every peer. Values, and one function that runs in the caller's process.

#include <cstdint>
#include <memory>
#include <vector>

#include "lp/base/scheduler.h"
#include "tests/bench/rpc/peer.h"

namespace lp::bench {

enum class Kind : std::uint8_t {
  round_trip,  // one call after the other
  pipelined,   // always `window` calls in flight
  pull,        // one kBulk after the other, as one array if the peer can do that
  pull_into,   // and from there into a buffer, the same each time
  read,        // one published kBulk after the other, without a copy
  fan_out,     // one call to every service, then all replies
};

struct Work {
  Kind kind = Kind::round_trip;
  std::uint64_t size = 64;  // bytes of a call and its reply
  std::uint64_t window = 1;
  std::int64_t begin = 0;     // calls that ended earlier do not count; nanoseconds of lp::now()
  std::int64_t duration = 0;  // nanoseconds from there
};

struct Figures {
  std::uint64_t calls = 0;  // calls that ended in the time
  double median = 0;        // median microseconds of a call; with fan_out, of a whole turn
  double high = 0;          // the 99th percentile
};

// Does `work` with callers that are connected to one service each; all kinds except fan_out use the first. Throws Error
// when a reply is wrong.
Figures measure(const Work& work, const std::vector<std::unique_ptr<Caller>>& callers);

}  // namespace lp::bench
