#pragma once
// An allocation of Slurm for a program whose launcher stays on this host. salloc requests it, and gives it back when
// the launcher has ended, for whatever reason.
//
// main() owns it. It changes the environment of this process, from which the commands of Slurm know the allocation, so
// it is made before there are threads.

#include <sys/types.h>

#include <span>
#include <string>
#include <vector>

#include "launchers/engine_interface/engine.h"
#include "launchers/engines/slurm/job_resources.h"
#include "lp/base/descriptor.h"

namespace lp::launch {

class SlurmAllocation final : public Reservation {
 public:
  // Waits for the resources of the components as long as Slurm allows. `options` belong to every component. Throws
  // Error when Slurm grants no allocation. Slurm writes the allocation's number, the reason for waiting, and its end to
  // standard error.
  SlurmAllocation(std::span<const SlurmComponent> components, const std::vector<std::string>& options);
  ~SlurmAllocation() override;
  SlurmAllocation(const SlurmAllocation&) = delete;
  SlurmAllocation& operator=(const SlurmAllocation&) = delete;

 private:
  void take_environment();

  Descriptor connection_;  // to the process inside the allocation, which ends when this closes
  pid_t guard_ = -1;       // the process above salloc
};

}  // namespace lp::launch
