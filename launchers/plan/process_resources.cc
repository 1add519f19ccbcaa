#include "launchers/plan/process_resources.h"

#include <cmath>

namespace lp::launch {

std::vector<ProcessResources> needs_of_processes(const Plan& plan) {
  std::vector<ProcessResources> needs(plan.processes);
  for (const PlanNode& node : plan.nodes) {
    const GroupOptions& group = plan.groups[node.group].options;
    needs[node.process].cpus += group.cpus;
    needs[node.process].gpus += group.gpus;
    needs[node.process].memory += group.memory;
  }
  constexpr double kRounding = 1e-9;  // ten tenths are a whole
  for (ProcessResources& one : needs) {
    if (std::abs(one.gpus - std::round(one.gpus)) < kRounding) one.gpus = std::round(one.gpus);
  }
  return needs;
}

}  // namespace lp::launch
