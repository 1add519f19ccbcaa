#pragma once
// Reads the plan of a run from its directory. Functions.

#include <string>
#include <string_view>
#include <vector>

#include "lp/program/plan.h"
#include "tools/lp/runs.h"

namespace lp::tool {

// Throws CommandError(failed) when `json` is no plan.
Plan parse_plan(std::string_view json);
Plan plan_of(const RunLocation& run);

// The nodes that `given` names: a node or a group. Throws CommandError(unknown) with the nearest name.
std::vector<NodeId> find_nodes(const Plan& plan, const std::string& given);
// The name of the one node that `given` names: a node, or a group of one. Throws CommandError: (usage) for a group of
// several, with its members, and (unknown) as above.
std::string find_node(const Plan& plan, const std::string& given);

}  // namespace lp::tool
