#pragma once
// Which nodes may call a node, as the plan has it. Pure functions.

#include <set>
#include <string>
#include <vector>

#include "lp/program/plan.h"

namespace lp::launch {

std::vector<std::string> callers_of(const Plan& plan, const std::string& node);
// The callers of the node that do not wait in it may bring a value for which those in `waiting` wait: first of all,
// replicas of those that wait.
std::vector<std::string> missing_callers(const Plan& plan, const std::string& node,
                                         const std::set<std::string>& waiting);

}  // namespace lp::launch
