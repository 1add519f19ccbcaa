#pragma once
// The agents of a job of Slurm. One srun for each component of the job starts them on all nodes, as it starts the tasks
// of any program, and they dial the coordinator. Their keys reach them through srun's standard input. Their messages
// and srun's go to our standard error.
//
// A run owns it. One thread makes and ends it; any thread may call finish().

#include <memory>
#include <vector>

#include "launchers/remote/agent_group.h"

namespace lp::launch {

class SlurmAgents final : public AgentSource {
 public:
  // Waits until there is an agent on each host of slurm_hosts(). Throws Error when one cannot be started or is late;
  // then nothing is left running.
  SlurmAgents(const std::vector<HostSpec>& hosts, const RemoteOptions& options);
  // Ends the agents whose links have ended, and waits for them and for srun.
  ~SlurmAgents() override;
  SlurmAgents(const SlurmAgents&) = delete;
  SlurmAgents& operator=(const SlurmAgents&) = delete;

  // In the order of the hosts. Call it once.
  std::vector<RemoteAgent> take_agents();
  // The run is over: agents whose links end from now on end with it.
  void finish() override;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace lp::launch
