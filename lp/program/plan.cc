#include "lp/program/plan.h"

#include <algorithm>
#include <utility>

#include "lp/base/error.h"
#include "lp/program/plan_check.h"
#include "lp/program/program.h"

namespace lp {
namespace {

[[noreturn]] void refuse(const Program& program, const std::vector<std::string>& problems) {
  constexpr std::size_t kMost = 50;  // more lines help nobody
  std::string text = "program '" + program.name() + "' cannot start:";
  for (std::size_t i = 0; i < problems.size() && i < kMost; ++i) text += "\n  - " + problems[i];
  if (problems.size() > kMost) text += "\n  and " + std::to_string(problems.size() - kMost) + " more";
  throw Error(ErrorKind::failed, text);
}

}  // namespace

Plan make_plan(const Program& program, const PlanOptions& options) {
  std::vector<GroupOptions> groups = options.groups;
  if (groups.empty()) {
    for (const GroupSpec& group : program.groups()) groups.push_back(group.options);
  }
  if (const auto problems = internal::problems_of(program, groups, options); !problems.empty()) {
    refuse(program, problems);
  }
  Plan plan{.program = program.name(), .fingerprint = program.fingerprint(), .groups = {}, .nodes = {}};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const GroupSpec& group = program.groups()[i];
    const NodeType& type = *program.nodes()[group.first].type;
    plan.groups.push_back({.options = std::move(groups[i]),
                           .type = std::string(type.name),
                           .active = type.active,
                           .saves = type.saves,
                           .first = group.first,
                           .size = group.size});
  }
  const std::vector<std::size_t> processes = internal::processes_of(program, options.together);
  for (const NodeSpec& node : program.nodes()) {
    const std::size_t process = processes[plan.nodes.size()];
    PlanNode planned{.name = node.name, .group = node.group, .index = node.index, .process = process, .calls = {}};
    plan.processes = std::max(plan.processes, process + 1);
    for (const std::string& edge : node.edges) planned.calls.push_back(*program.find(edge));
    plan.nodes.push_back(std::move(planned));
  }
  return plan;
}

}  // namespace lp
