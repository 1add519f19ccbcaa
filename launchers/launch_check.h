#pragma once
// What a launch refuses before anything has started. Functions without state.

#include "launchers/run.h"

namespace lp::internal {

// Throws Error for a launch of processes in a process that is itself one of a run: a main() that does not return what
// become_node_if_asked gives it would launch once more in each of its processes.
void check_launcher(Launch launch);

// Throws Error for options that no launch of the program can follow.
void check_options(const Program& program, const LaunchOptions& options);

}  // namespace lp::internal
