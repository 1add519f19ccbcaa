#pragma once
// The nodes of a run as threads of this process, in one Runtime.

#include <memory>

#include "launchers/executor/run_nodes.h"

namespace lp::launch {

std::unique_ptr<RunNodes> make_thread_nodes(const RunParts& parts);

}  // namespace lp::launch
