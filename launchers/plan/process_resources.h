#pragma once
// What the processes of a plan ask of the hosts that engines give them. Values.

#include <cstdint>
#include <vector>

#include "lp/program/plan.h"

namespace lp::internal {

struct ProcessNeeds {
  double cpus = 0;  // 0: none for itself
  int gpus = 0;
  std::uint64_t memory = 0;  // bytes; 0: no limit
};

// By process: the sums over its nodes.
std::vector<ProcessNeeds> needs_of_processes(const Plan& plan);

}  // namespace lp::internal
