#pragma once
// Handles a launch with --launch=slurm outside a job: the program becomes a job, which runs it again inside. lp::main
// calls it before there are threads.

#include "launchers/plan/launch.h"

namespace lp::launch {

// Prints the job's script, or submits it and follows the job to its end, as the flags require. Returns the exit code.
// Throws Error with the problem or with Slurm's message; then the directory holds no run.
int submit_to_slurm(const Launch& launch);

}  // namespace lp::launch
