#include "launchers/observation/callers.h"

#include <algorithm>
#include <cstddef>
#include <map>

namespace lp::launch {
namespace {

bool calls(const Plan& plan, const PlanNode& caller, const std::string& node) {
  return std::any_of(caller.calls.begin(), caller.calls.end(), [&](NodeId id) { return plan.nodes[id].name == node; });
}

}  // namespace

std::vector<std::string> callers_of(const Plan& plan, const std::string& node) {
  std::vector<std::string> names;
  for (const PlanNode& caller : plan.nodes) {
    if (calls(plan, caller, node)) names.push_back(caller.name);
  }
  return names;
}

MissingCallers missing_callers(const Plan& plan, const std::string& node, const std::set<std::string>& waiting,
                               bool on_its_way) {
  std::map<std::size_t, std::size_t> callers;  // by group
  std::set<std::size_t> groups;                // that wait
  for (const PlanNode& one : plan.nodes) {
    if (calls(plan, one, node)) ++callers[one.group];
    if (waiting.contains(one.name)) groups.insert(one.group);
  }
  MissingCallers missing;
  missing.mates = std::any_of(groups.begin(), groups.end(), [&](std::size_t group) { return callers[group] > 1; });
  for (const PlanNode& one : plan.nodes) {
    if (waiting.contains(one.name) || !calls(plan, one, node)) continue;
    const bool likely = !missing.mates || groups.contains(one.group);
    (likely ? missing.likely : missing.unlikely).push_back(one.name);
  }
  if (missing.mates && missing.likely.empty()) {
    missing.mates = false;
    if (!on_its_way) missing.likely.swap(missing.unlikely);
  }
  return missing;
}

}  // namespace lp::launch
