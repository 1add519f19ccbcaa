#pragma once
// Finds every problem of a program before it starts. Pure functions.

#include <string>
#include <vector>

#include "lp/program/plan.h"

namespace lp::internal {

// Returns a sentence for each problem of the graph, of the options of its groups (one entry for each, in order), and of
// the host.
std::vector<std::string> problems_of(const Program& program, const std::vector<GroupOptions>& groups,
                                     const PlanOptions& options);

// Returns the number of each node's process, as in PlanNode.
std::vector<std::size_t> processes_of(const Program& program, const std::vector<bool>& together);

}  // namespace lp::internal
