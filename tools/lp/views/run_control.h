#pragma once
// Stops a run and restarts its nodes, on whatever host and by whatever engine it runs. Functions.

#include <string>

#include "tools/lp/runs.h"

namespace lp::tool {

// "ann (lp stop)": this user, and the command with which he ended a run.
std::string this_user(const std::string& command);

struct Stop {
  std::string by{};      // as from this_user()
  std::string reason{};  // empty: `by` counts as the reason
  bool force = false;    // kills the nodes at once
  double patience = 60;  // seconds in which the run has to end; 0: does not wait
};

// Stops the run, and waits until it has ended. Returns what happened, in a sentence; `run` has its new state. Throws
// CommandError: (timed_out) when it goes on, (not_live) when it is unreachable, (failed) with the run's or the engine's
// error.
std::string stop_run(RunView& run, const Stop& stop);

// Restarts a node, or all nodes of a group; only by force when that throws away work that no checkpoint has. Returns
// what happened. Throws CommandError as find_nodes() and ask() do.
std::string restart_node(const RunView& run, const std::string& node, bool force);

}  // namespace lp::tool
