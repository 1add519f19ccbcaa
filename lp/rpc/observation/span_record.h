#pragma once
// The record of a span. A span is a piece of work that begins and ends, such as a call, its handler, or a part of a
// handler that the program has named (lp/rpc/span.h). lp trace joins the records of all processes of a run. Values.
//
// Spans form trees. A call's span has one number at its caller and at its callee, and the spans that its handler causes
// name it as their parent. The number travels in the head of the call; 0 there means that nothing of it is recorded. So
// it is decided once, at the root of the tree, whether all of the tree is recorded.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>
#include <vector>

#include "lp/base/scheduler.h"
#include "lp/base/utf8.h"

namespace lp {

struct SpanRecord {
  static constexpr std::size_t kLongestName = 57;
  static constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

  enum class Kind : std::uint8_t {
    call,     // a call at its caller, until its reply is there
    sent,     // a call without a reply, at its caller, until it is on its way
    direct,   // a call that ran on its caller's stack: the call and its handler
    handler,  // a call at its callee
    own,      // a span of the program, or of lp
  };

  std::uint64_t id = 0;
  std::uint64_t parent = 0;       // 0: it is a root; for handlers, whose call knows it
  std::uint64_t chain = 0;        // the chain of the call; 0: it is no call
  Time begin{};                   // for handlers: when the handler began to run
  Time end{};                     // for handlers: when it returned
  Time arrived{};                 // handlers only: when the call was at its callee
  Time replied{};                 // handlers only: when its result was there
  std::uint32_t node = kNobody;   // the node whose code it is; kNobody: code outside all nodes
  std::uint32_t other = kNobody;  // the callee of a call, and the caller of a handler
  std::int32_t thread = 0;        // the kernel's number of the thread that began it
  Kind kind = Kind::own;
  bool failed = false;
  std::uint8_t name_size = 0;
  char name_bytes[kLongestName] = {};

  std::string_view name() const { return {name_bytes, name_size}; }
  // A longer name is cut.
  void set_name(std::string_view name) noexcept {
    const std::string_view cut = cut_utf8(name, kLongestName);
    name_size = static_cast<std::uint8_t>(cut.size());
    std::copy(cut.begin(), cut.end(), name_bytes);
  }
};
static_assert(sizeof(SpanRecord) == 128 && std::is_trivially_copyable_v<SpanRecord>);

// The records that a process has made.
struct RecordedSpans {
  std::vector<SpanRecord> records{};
  std::uint64_t lost = 0;  // for which there was no room
};

// Which root spans are recorded, with everything that they cause.
struct Sampling {
  double share = 0;  // 0: none; 1: all
  // A thread begins no spans while it has recorded many lately (SpanRecorder::kRecordsPerSecond). Spans below those
  // that it leaves out are left out, too.
  bool bounded = false;
};

// A span that goes on.
struct BegunSpan {
  std::uint64_t id = 0;  // 0: it is not recorded
  std::uint64_t parent = 0;
  Time begin{};
  std::int32_t thread = 0;

  explicit operator bool() const { return id != 0; }
};

}  // namespace lp
