#pragma once
// Everything that is wrong with a program before it starts. Pure functions.

#include <string>
#include <vector>

#include "lp/program/plan.h"

namespace lp::internal {

// A sentence for each problem of the graph, of the options of its groups (one for each, in order), and of the host.
std::vector<std::string> problems_of(const Program& program, const std::vector<GroupOptions>& groups,
                                     const PlanOptions& options);

// By node: the number of its process, as in PlanNode.
std::vector<std::size_t> processes_of(const Program& program, const std::vector<bool>& together);

// "512M": bytes, or with K, M, G or T.
std::string memory_text(std::uint64_t bytes);

}  // namespace lp::internal
