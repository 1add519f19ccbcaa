#pragma once
// The spans of a run. Its processes record them only while somebody asks again and again. A value that to_json and
// from_json know, and its parts in control messages. Functions; any thread.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lp/base/scheduler.h"
#include "lp/rpc/observation/span_record.h"

namespace lp::control {
struct RecordSpans;
struct RecordSpansT;
}  // namespace lp::control

namespace lp {

class SpanRecorder;

// The answer of a run to "spans". Times are nanoseconds on the launcher's monotonic clock.
struct SpansRecord {
  struct Process {
    std::vector<std::string> nodes{};
    std::string host{};     // empty: the launcher's
    int pid = 0;            // 0: its nodes are threads of the launcher
    std::int64_t came = 0;  // when this answer of the process was there
    std::string spans{};    // for unpack_spans()
  };
  // A process that has ended without handing over what it had recorded.
  struct Lost {
    std::vector<std::string> nodes{};
    std::int64_t since = 0;  // its last answer, or the beginning
    std::int64_t ended = 0;
  };
  std::int64_t time = 0;              // when this answer was made
  std::int64_t wall = 0;              // the same moment in nanoseconds since 1970
  std::string clock{};                // the name of the launcher's clock
  std::uint64_t most = 0;             // a process with so many records may have more of them
  std::vector<Process> processes{};   // a process that was slow may have two entries, or none
  std::vector<Lost> lost{};           // since the last answer of the run
  std::vector<std::string> silent{};  // the nodes of the processes that have not answered in time
};

namespace launch {

// An order to a process: which spans to record from now on, until the next order.
struct SpanOrder {
  Sampling sampling{};
  std::size_t most = 0;  // the number of records in its answer
  bool ends = false;     // it drops what it has, and does not answer
  Time sent{};           // on the launcher's clock
};

control::RecordSpansT pack_order(const SpanOrder& order);
SpanOrder unpack_order(const control::RecordSpans& message);

// An answer has at most so many records: then its message has room for it.
inline constexpr std::size_t kMostSpans = 4000;

// The records of one process since its last answer. Times are those of its clock, unless a comment names another.
struct ProcessSpans {
  std::string clock{};  // processes with the same name have the same clock
  Time sent{};          // when the order was sent, on the launcher's clock
  Time arrived{};       // when it was there
  Time answered{};
  RecordedSpans recorded{};
};

// Carries the order out and returns the packed answer; empty when the order ends the recording.
std::string carry_out(const SpanOrder& order, SpanRecorder& recorder);
// Returns the packed answers of a process that ends: all that it has recorded. There is at least one.
std::vector<std::string> take_rest(const SpanOrder& order, SpanRecorder& recorder);

std::string pack_spans(const ProcessSpans& spans);
// Throws Error when the text is no packed answer.
ProcessSpans unpack_spans(std::string_view text);

}  // namespace launch
}  // namespace lp
