#pragma once
// What a launch with --launch=slurm does outside a job: the program becomes a job, which runs it again, inside. To be
// called by lp::main, before there are threads.

#include "launchers/plan/launch_flags.h"
#include "launchers/plan/launch_options.h"

namespace lp::internal {

// Prints the job's script; or submits it, and follows the job to its end, as the flags say. Returns what to exit with.
// Throws Error with what is wrong, and with what Slurm says; then the directory holds no run.
int submit_to_slurm(const LaunchFlags& flags, const Program& program, const LaunchOptions& options);

}  // namespace lp::internal
