#pragma once
// A trace of a run: the spans of all its processes on one clock, and what happened beside them. A Recording collects
// the answers of the run and makes the trace of them. One thread owns and uses it.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "launchers/control/spans_record.h"
#include "tools/lp/trace/clocks.h"

namespace lp::tool {

struct Trace {
  struct Node {
    std::string name{};
    std::string host{};
  };
  // Something that happened at one moment.
  struct Mark {
    Time at{};
    std::uint32_t node = SpanRecord::kNobody;  // kNobody: the program
    std::string name{};
    std::string text{};
  };
  // A value that a node has reported.
  struct Value {
    Time at{};
    std::uint32_t node = 0;
    std::string name{};
    double value = 0;
  };

  // The nodes of one process, or of several, of which something is missing.
  struct Gap {
    std::vector<std::string> nodes{};
    bool answered = true;         // nodes that have not ended: they have answered once
    Time since{};                 // the last answer
    std::optional<Time> ended{};  // nothing: they have not ended, but do not answer
  };

  std::string run{};
  std::vector<Node> nodes{};        // by NodeId
  std::vector<SpanRecord> spans{};  // on the launcher's clock
  std::vector<Mark> marks{};
  std::vector<Value> values{};
  std::uint64_t lost = 0;  // spans for which there was no room
  std::vector<Gap> gaps{};
  bool launcher_lost = false;  // it ended without a result, and with it the spans that it had not asked for
  Duration clock_error{};      // the most by which the clocks of two hosts may differ from one another
};

// The first moment in the trace; the latest possible one when there is nothing.
Time begin_of(const Trace& trace);

class Recording {
 public:
  // Throws Error when the answer is malformed. Returns whether a process may have more records at once.
  bool add(const SpansRecord& answer);
  std::size_t size() const { return spans_.size(); }
  bool quiet() const { return quiet_; }  // the last answer had no spans
  // The nodes that were asked for the last answer, and are not in it; and whether any node has answered ever.
  const std::vector<std::string>& silent() const { return silent_; }
  bool answered() const { return !answered_.empty(); }
  // The times of the first and of the last answer, on the launcher's clock; nothing: there was none yet.
  std::optional<Time> begin() const { return begin_; }
  Time end() const { return end_; }

  // The time on the launcher's clock of a moment in seconds since 1970.
  Time time_of(double wall) const;

  // Puts the spans on the launcher's clock, and adds them and what is known about them to the trace. Call it once.
  void move_to(Trace& trace);

 private:
  using Index = std::unordered_map<std::uint64_t, std::size_t>;

  Index calls() const;
  void add_silent_to(Trace& trace) const;
  void bound_by_calls(const Index& calls);
  void keep_inside(const Index& calls);

  Clocks clocks_;
  std::vector<SpanRecord> spans_;
  std::vector<std::size_t> clock_of_;  // by span
  std::uint64_t lost_ = 0;
  std::vector<Trace::Gap> gaps_;
  std::map<std::string, Time, std::less<>> answered_;  // by node: its last answer
  std::vector<std::string> silent_;
  Duration wall_ahead_{};  // the wall clock of the launcher before its monotonic one
  bool quiet_ = false;
  std::optional<Time> begin_;
  Time end_{};
};

}  // namespace lp::tool
