#pragma once
// What stages send to one another: records, and the marks that travel between them in order. Values.

#include <cstddef>
#include <cstdint>
#include <limits>

#include "lp/base/array.h"

namespace lp {

// The time at which an event happened: milliseconds since 1970, or since any other beginning that all events share.
using EventTime = std::int64_t;
inline constexpr EventTime kNoTime = std::numeric_limits<EventTime>::min();
inline constexpr EventTime kEndOfTime = std::numeric_limits<EventTime>::max();

namespace dataflow {

enum class MarkKind : std::uint8_t {
  none,
  watermark,  // value: no event with an earlier time will come, except late ones
  barrier,    // value: number of the cut that has everything before this mark, and nothing after it
  end,        // nothing comes after it
  idle,  // nothing has come for a while: the watermarks of others do not wait for this sender until it speaks again
};
struct Mark {
  MarkKind kind = MarkKind::none;
  std::int64_t value = 0;
};

struct Frame {
  std::uint32_t input = 0;   // its number at the receiving stage
  std::uint32_t sender = 0;  // replica of the sending stage
  std::uint32_t life = 0;    // incarnation of the sender
  std::uint64_t number = 0;  // from 0, without gaps, for each sender and receiver
  Array<std::byte> records{};
  Mark mark{};  // comes after the records
};

}  // namespace dataflow
}  // namespace lp
