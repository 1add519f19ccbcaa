#pragma once
// The engine `slurm`: a program becomes a job of Slurm, or some of its groups run in an allocation.

#include <memory>

#include "launchers/engine_interface/engine.h"

namespace lp::launch {

std::unique_ptr<Engine> slurm_engine();

}  // namespace lp::launch
