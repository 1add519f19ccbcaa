#pragma once
// What a launch with --launch=kubernetes does outside the cluster: the program becomes Jobs there, which run it again.
// To be called by lp::main, before there are threads.

#include "launchers/plan/launch_flags.h"
#include "launchers/plan/launch_options.h"

namespace lp::internal {

// Prints the manifests; or creates what they say, follows the program to its end and removes everything, as the flags
// say. Returns what to exit with. Throws Error with what is wrong, and with what the cluster says; then nothing is
// left.
int submit_to_kubernetes(const LaunchFlags& flags, const Program& program, const LaunchOptions& options);

}  // namespace lp::internal
