#pragma once
// A run after its end: its files, and what follows from them. Values and pure functions, except history_of().

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "launchers/record/records.h"
#include "launchers/record/usage.h"
#include "lp/base/json_value.h"
#include "lp/program/plan.h"
#include "tools/lp/run_charts.h"
#include "tools/lp/runs.h"
#include "tools/lp/why/straggler.h"

namespace lp::tool {

struct RunHistory {
  RunView run{};
  Plan plan{};
  std::vector<RunEvent> events{};
  UsageRecord usage{};  // empty: nobody has looked at the run
  RunCurves curves{};
  JsonValue result{};                  // what the program's report has returned; null: nothing
  std::vector<std::string> damages{};  // sentences about files that could not be read whole
};

// Reads the files. Those of usage and curves may be missing or damaged. Throws CommandError(failed) when there is no
// run, or another file of it is malformed.
RunHistory history_of(const RunLocation& place);

// From when to when, in seconds since 1970: to the end of the run, or to the last that is known of it.
struct TimeSpan {
  double begin = 0;
  double end = 0;
};
TimeSpan span_of(const RunHistory& history);

// A node over the whole run. Shares are of the time in which lp looked at it, and sum up to 1, or are all 0. Looks are
// not as far apart in one interval as in another, so each weighs as the time that it stands for.
struct NodeSummary {
  NodeStatus status{};
  std::string host{};
  double works = 0;
  double waits = 0;
  double idle = 0;
  double down = 0;
  double processors = 0;      // its process uses, on average; 0: unknown
  std::uint64_t memory = 0;   // the most
  double queue = 0;           // on average
  std::string waits_for{};    // what its run() waited for most, with the share of its waits
  double ends_of_others = 0;  // the share of the time in which waits ended at it, without its own run()
};
std::vector<NodeSummary> summaries_of(const RunHistory& history);

// Where the waits of the whole run ended, the longest first.
struct WaitEnd {
  std::string node{};
  std::string work{};    // as in UsageRecord::End
  double seconds = 0;    // several waits that end at once share the time
  double of_others = 0;  // the part of `seconds` for run() of other nodes
};
std::vector<WaitEnd> ends_of(const UsageRecord& usage);
double looks_of(const UsageRecord& usage);

// The critical path: in each of at most 60 equal parts of the run the node at which waits ended for the longest time.
// Parts with one node are joined.
struct PathPart {
  TimeSpan time{};
  std::string node{};  // empty: no run() was awaited, as before all nodes were up
  std::string work{};  // that most of them ended at
  double share = 0;    // the part of the time of the waits that ended there
};
std::vector<PathPart> critical_path(const UsageRecord& usage);

// A sentence for each replica that was slower than its group, or for which others waited much longer.
std::vector<std::string> stragglers_of(const RunHistory& history, const std::vector<NodeSummary>& nodes);

// The calls from node to node, most bytes first; sums of groups where nodes have too many edges for a table.
struct Traffic {
  std::vector<UsageRecord::Edge> edges{};
  bool by_group = false;
};
Traffic traffic_of(const RunHistory& history);

}  // namespace lp::tool
