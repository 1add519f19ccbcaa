#pragma once
// The resources that the processes of a plan request from the hosts of an engine. Values.

#include <cstdint>
#include <vector>

#include "lp/program/plan.h"

namespace lp::launch {

struct ProcessResources {
  double cpus = 0;           // 0: it requests none for itself
  double gpus = 0;           // below 1: a part of one
  std::uint64_t memory = 0;  // bytes; 0: no limit
};

// By process: the sums over its nodes.
std::vector<ProcessResources> needs_of_processes(const Plan& plan);

}  // namespace lp::launch
