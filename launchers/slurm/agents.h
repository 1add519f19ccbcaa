#pragma once
// The agents of a job of Slurm: one srun for each of its components starts them on all nodes, as it does the tasks of
// any program, and they dial. Their keys go to them by its standard input; what they and srun have to say stands in our
// standard error.
//
// Owned by a run. One thread makes and ends it; finish() is for any.

#include <memory>
#include <vector>

#include "launchers/remote/ssh_agents.h"

namespace lp::internal {

class SlurmStep {
 public:
  // Waits until there is an agent on each host of slurm_hosts(). Throws Error when one cannot be had, or is not there
  // in time; then nothing is left running.
  SlurmStep(const std::vector<HostSpec>& hosts, const RemoteOptions& options);
  // Ends the agents whose links have gone, and waits for them and for srun.
  ~SlurmStep();
  SlurmStep(const SlurmStep&) = delete;
  SlurmStep& operator=(const SlurmStep&) = delete;

  // In the order of the hosts. To be called once.
  std::vector<RemoteAgent> take_agents();
  // The run is over: agents whose links go from now on end as it does.
  void finish();

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace lp::internal
