#pragma once
// Looks at a run again and again, and keeps a record of what its nodes did, used and waited for (record/usage.h). It
// looks ten times a second at first, and once a second, or more rarely where there are many processes, later: each look
// is a question to every process, so that it costs a run of any size about the same.
//
// The loop thread of a run owns and uses it.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "launchers/control/measurement.h"
#include "launchers/observation/wait_graph.h"
#include "launchers/record/status.h"
#include "launchers/record/usage.h"
#include "launchers/supervisor/supervision_graph.h"
#include "lp/base/function.h"
#include "lp/base/scheduler.h"

namespace lp {
struct Plan;

namespace launch {

class UsageWatch {
 public:
  // `earlier`: the record of an earlier start of the run, which goes on if it has the same nodes.
  UsageWatch(const Plan& plan, const SupervisionGraph& graph, std::optional<UsageRecord> earlier);

  // When advance() is due.
  Time next() const { return next_; }
  // Ends the last look when all processes have answered, or have had time to, and begins another one. `ask` asks the
  // processes that are up, and returns them; on_measured() follows.
  void advance(Function<std::vector<std::size_t>(Inquiry)> ask, Function<RunStatus()> status);
  // Takes a part of an answer, also of one that others have asked for.
  void on_measured(std::size_t process, const Measurement& part);
  // Ends a look at this time, in seconds since 1970, with the answers that have come since the last one.
  void end_look(RunStatus status, double time);
  // The record up to now.
  UsageRecord record() const;

 private:
  using CallKey = std::tuple<std::string, std::string, std::string>;  // caller, callee, method

  void take_states(const RunStatus& status, const WaitGraph& graph);
  void take_waits(const RunStatus& status, const WaitGraph& graph);
  void note_wait(const std::string& node, const std::string& waits_for);
  void take_use(std::size_t process, const ProcessUse& use);
  void take_calls(const MeasureRecord::Calls& calls);
  bool is_awaited(NodeId node, const RunStatus& status) const;
  void end_interval();

  const Plan& plan_;
  const SupervisionGraph& graph_;
  const bool any_ends_;        // a group ends the program
  UsageRecord record_;         // without edges and waits
  UsageRecord::Interval now_;  // the interval that goes on
  double length_;              // seconds of an interval
  Duration period_;            // between two looks
  Time next_{};
  Time next_use_{};
  Time patience_{};                                    // until then processes may answer
  std::vector<std::size_t> asked_{};                   // the processes of the last look
  bool looks_ = false;                                 // a look has begun
  std::map<std::size_t, Measurement> parts_{};         // the answers to it, by process
  std::map<std::size_t, ProcessUse> used_{};           // by process: the last use that was known
  std::map<CallKey, MeasureRecord::Calls> counted_{};  // the last counts
  std::map<std::pair<std::string, std::string>, UsageRecord::Edge> edges_{};
  std::map<std::pair<std::string, std::string>, std::uint64_t> waits_{};
};

}  // namespace launch
}  // namespace lp
