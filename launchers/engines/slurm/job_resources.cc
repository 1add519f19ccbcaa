#include "launchers/engines/slurm/job_resources.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "launchers/plan/process_resources.h"
#include "lp/base/error.h"
#include "lp/base/json.h"

namespace lp::launch {
namespace {

constexpr std::uint64_t kSlurmUnit = std::uint64_t{1} << 20;  // bytes of Slurm's "M"

// The options of each process: those of any of its groups, which must agree.
std::vector<std::vector<std::string>> options_of_processes(const Plan& plan,
                                                           std::span<const GroupPlacement> placements) {
  std::vector<std::vector<std::string>> options(plan.processes);
  std::vector<std::string> said_of(plan.processes);
  for (const GroupPlacement& place : placements) {
    for (const PlanNode& node : plan.nodes) {
      if (place.slurm.empty() || plan.groups[node.group].options.name != place.group) continue;
      std::vector<std::string>& of = options[node.process];
      if (!of.empty() && of != place.slurm) {
        throw Error(ErrorKind::failed, place.location() + ": group " + place.group +
                                           ": its `slurm` options differ from those of group " + said_of[node.process] +
                                           ", but the two groups share a process");
      }
      of = place.slurm;
      said_of[node.process] = place.group;
    }
  }
  return options;
}

// A task of the component has room for any of its processes.
std::vector<std::string> options_for(const std::vector<std::size_t>& processes,
                                     const std::vector<ProcessResources>& needs) {
  ProcessResources most;
  for (const std::size_t process : processes) {
    most.cpus = std::max(most.cpus, needs[process].cpus);
    most.gpus = std::max(most.gpus, needs[process].gpus);
    most.memory = std::max(most.memory, needs[process].memory);
  }
  const int cores = std::max(1, static_cast<int>(std::ceil(most.cpus)));
  std::vector<std::string> options{"--ntasks=" + std::to_string(std::max<std::size_t>(processes.size(), 1)),
                                   "--cpus-per-task=" + std::to_string(cores)};
  if (most.gpus > 0) options.push_back("--gpus-per-task=" + to_json(std::ceil(most.gpus)));
  if (most.memory > 0) {
    const std::uint64_t each = (most.memory / static_cast<std::uint64_t>(cores) + kSlurmUnit - 1) / kSlurmUnit;
    options.push_back("--mem-per-cpu=" + std::to_string(each) + "M");
  }
  return options;
}

}  // namespace

std::vector<SlurmComponent> slurm_components(const Plan& plan, std::span<const GroupPlacement> placements,
                                             std::span<const LaunchType> launches) {
  const std::vector<ProcessResources> needs = needs_of_processes(plan);
  const std::vector<std::vector<std::string>> own = options_of_processes(plan, placements);
  using Kind = std::pair<double, std::vector<std::string>>;  // the number of GPUs, and the options of its groups
  std::vector<Kind> kinds;
  std::vector<SlurmComponent> components;
  for (std::size_t process = 0; process < plan.processes; ++process) {
    if (!launches.empty() && launches[process] != LaunchType::slurm) continue;
    const Kind kind{needs[process].gpus, own[process]};
    const auto at = static_cast<std::size_t>(std::find(kinds.begin(), kinds.end(), kind) - kinds.begin());
    if (at == kinds.size()) {
      kinds.push_back(kind);
      components.emplace_back();
    }
    components[at].processes.push_back(process);
  }
  if (components.empty()) components.push_back({.needs = options_for({}, needs)});
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    components[i].needs = options_for(components[i].processes, needs);
    components[i].options = kinds[i].second;
  }
  return components;
}

std::vector<std::size_t> component_of_processes(const Plan& plan, std::span<const SlurmComponent> components) {
  std::vector<std::size_t> numbers(plan.processes);
  for (std::size_t i = 0; i < components.size(); ++i) {
    for (const std::size_t process : components[i].processes) numbers[process] = i;
  }
  return numbers;
}

}  // namespace lp::launch
