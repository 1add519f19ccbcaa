#pragma once
// The resources that a job of Slurm requests: one allocation for all processes of the plan, or a heterogeneous job of
// several components, where processes need different hosts. Processes differ when the configuration gives groups their
// own options of sbatch, or when they need different numbers of GPUs. Functions without state.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "launchers/plan/hosts.h"
#include "lp/config/group_placement.h"
#include "lp/program/plan.h"

namespace lp::launch {

struct SlurmComponent {
  std::vector<std::size_t> processes{};  // the processes of the plan that run there
  std::vector<std::string> needs{};      // their needs as options of sbatch
  std::vector<std::string> options{};    // the configuration's additions, which win
};

// At least one component, in the order of the plan. Every process of Slurm is in one of them; with empty `launches` all
// processes are Slurm's. Throws Error when groups that share a process have different options.
std::vector<SlurmComponent> slurm_components(const Plan& plan, std::span<const GroupPlacement> placements,
                                             std::span<const LaunchType> launches = {});

// By process of the plan: the number of its component; 0 for a process that is in none.
std::vector<std::size_t> component_of_processes(const Plan& plan, std::span<const SlurmComponent> components);

}  // namespace lp::launch
