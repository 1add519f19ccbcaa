#pragma once
// An allocation of Slurm for a program whose launcher stays here: salloc gets it, and gives it back when the launcher
// has gone, however that ends.
//
// Owned by main(). It changes the environment of this process, by which the commands of Slurm know the allocation, so
// it is made before there are threads.

#include <sys/types.h>

#include <span>
#include <string>
#include <vector>

#include "launchers/slurm/components.h"
#include "lp/base/descriptor.h"

namespace lp::internal {

class SlurmAllocation {
 public:
  // Waits as long as Slurm lets it wait for what the components need; `options` are those of every one. Throws Error
  // when Slurm gives none. On standard error, Slurm says its number, why it waits, and when it is taken away.
  SlurmAllocation(std::span<const SlurmComponent> components, const std::vector<std::string>& options);
  ~SlurmAllocation();
  SlurmAllocation(const SlurmAllocation&) = delete;
  SlurmAllocation& operator=(const SlurmAllocation&) = delete;

 private:
  void take_environment();

  Descriptor connection_;  // of what runs in the allocation, and ends when this does
  pid_t guard_ = -1;       // the process above salloc
};

}  // namespace lp::internal
