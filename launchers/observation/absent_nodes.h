#pragma once
// Nodes that serve nothing now, as an activity each. Pure functions.

#include <optional>
#include <string>

#include "launchers/observation/thread_text.h"
#include "launchers/observation/wait_graph.h"
#include "launchers/record/status.h"

namespace lp::launch {

// A node without a process; nothing: its work is done.
std::optional<Activity> absent_node(const NodeStatus& status);
// A node whose process is up, but whose service is not constructed yet. `threads`: null if they are unknown.
Activity starting_node(const NodeStatus& status, const ThreadsById* threads);
// A node whose process does not answer. `threads`: null if its host does not answer either. `key`: of its process.
Activity silent_node(const std::string& node, const WaitsRecord::Process& process, const std::string& key,
                     const ThreadsById* threads);

}  // namespace lp::launch
