#pragma once
// What a job of Slurm asks for: one allocation for all processes of the plan, or a heterogeneous job of several, its
// components, where processes need hosts of another kind. That is so when the configuration gives groups options of
// sbatch of their own, or when some processes need GPUs and others none or fewer. Functions without state.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "launchers/plan/hosts.h"
#include "lp/config/placement.h"
#include "lp/program/plan.h"

namespace lp::internal {

struct SlurmComponent {
  std::vector<std::size_t> processes{};  // of the plan, which run there
  std::vector<std::string> needs{};      // of these, as options of sbatch
  std::vector<std::string> options{};    // what the configuration adds, which wins
};

// In the order of the plan, with every process in one of them that is Slurm's, as all are when `launches` is empty; one
// at least. Throws Error when groups that share a process have different options.
std::vector<SlurmComponent> slurm_components(const Plan& plan, std::span<const GroupPlacement> placements,
                                             std::span<const Launch> launches = {});

// By process of the plan: the number of its component; 0 for one that is in none.
std::vector<std::size_t> component_of_processes(const Plan& plan, std::span<const SlurmComponent> components);

}  // namespace lp::internal
