#pragma once
// Follows a run in Kubernetes from outside. A function; one thread.

#include <string>
#include <utility>

#include "launchers/engines/kubernetes/kubectl.h"

namespace lp::launch {

// Prints the program's output until it has ended, and reports problems of its pods (follow.h). With `json` the last
// line goes to standard output, and all others go to standard error. The first Ctrl-C stops the program. Returns the
// exit code, and the final state of the coordinator. Throws Error when the program cannot begin.
std::pair<int, CoordinatorState> follow_pods(const Kubectl& kubectl, const std::string& run, bool json);

}  // namespace lp::launch
