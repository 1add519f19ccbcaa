#include "launchers/plan/process_resources.h"

namespace lp::launch {

std::vector<ProcessResources> needs_of_processes(const Plan& plan) {
  std::vector<ProcessResources> needs(plan.processes);
  for (const PlanNode& node : plan.nodes) {
    const GroupOptions& group = plan.groups[node.group].options;
    needs[node.process].cpus += group.cpus;
    needs[node.process].gpus += group.gpus;
    needs[node.process].memory += group.memory;
  }
  return needs;
}

}  // namespace lp::launch
