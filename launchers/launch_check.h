#pragma once
// Checks that refuse a launch before anything has started. Functions without state.

#include "launchers/run.h"

namespace lp::internal {

// Throws Error for a launch of processes inside a process of a run. A main() that does not return the result of
// become_node_if_asked would launch once more in each of its processes.
void check_launcher(Launch launch);

// Throws Error for options that no launch of the program can fulfil.
void check_options(const Program& program, const LaunchOptions& options);

}  // namespace lp::internal
