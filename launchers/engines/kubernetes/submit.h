#pragma once
// Handles a launch with --launch=kubernetes outside the cluster: the program becomes Jobs there, which run it again.
// lp::main calls it before there are threads.

#include "launchers/plan/launch.h"

namespace lp::launch {

// Prints the manifests, or creates their objects, follows the program to its end and removes everything, as the flags
// require. Returns the exit code. Throws Error with the problem or with the cluster's message; then nothing is left.
int submit_to_kubernetes(const Launch& launch);

}  // namespace lp::launch
