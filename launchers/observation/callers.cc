#include "launchers/observation/callers.h"

#include <algorithm>
#include <cstddef>

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

std::vector<std::string> missing_callers(const Plan& plan, const std::string& node,
                                         const std::set<std::string>& waiting) {
  std::vector<const PlanNode*> callers;
  std::set<std::size_t> groups;
  for (const PlanNode& caller : plan.nodes) {
    if (waiting.contains(caller.name)) {
      groups.insert(caller.group);
    } else if (calls(plan, caller, node)) {
      callers.push_back(&caller);
    }
  }
  const bool mates =
      std::any_of(callers.begin(), callers.end(), [&](const PlanNode* one) { return groups.contains(one->group); });
  std::vector<std::string> names;
  for (const PlanNode* caller : callers) {
    if (!mates || groups.contains(caller->group)) names.push_back(caller->name);
  }
  return names;
}

}  // namespace lp::launch
