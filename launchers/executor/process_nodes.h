#pragma once
// The nodes of a run as processes below the agents of all its engines.

#include <memory>

#include "launchers/executor/run_nodes.h"

namespace lp::internal {

// Starts the agents. Throws Error when one cannot be started, or when the program does not fit on the hosts; then
// nothing is left running.
std::unique_ptr<RunNodes> make_process_nodes(const RunParts& parts);

}  // namespace lp::internal
