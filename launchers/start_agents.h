#pragma once
// Starts the agents of a run, one on each of its hosts: on this host, by ssh and in a job of Slurm, as its groups need
// them. The agents of pods dial by themselves (AgentAcceptor).

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "launchers/agent/agent_link.h"
#include "launchers/plan/hosts.h"
#include "launchers/plan/launcher_choice.h"
#include "launchers/remote/host_reconnector.h"
#include "launchers/run.h"
#include "launchers/slurm/agents.h"
#include "lp/base/scheduler.h"
#include "lp/program/plan.h"

namespace lp::internal {

constexpr Duration kLeastLease = std::chrono::seconds(2);  // for the agent of another host

struct Agents {
  std::vector<HostCapacity> hosts{};
  std::vector<std::unique_ptr<AgentLink>> links{};  // by host
  std::unique_ptr<HostReconnector> redial{};        // for the hosts of ssh; null: there are none
  std::unique_ptr<SlurmAgents> step{};              // for the hosts of the job; null: there is none
  std::vector<std::size_t> components{};  // the job's component of each process; empty: the job has one component
};

// Throws Error for problems of such a launch that are known before there are hosts.
void check_agents(const Plan& plan, const LauncherChoice& launchers, const LaunchOptions& options);

// `mark` marks the run's processes. Throws Error when an agent cannot be started; then nothing is left running.
Agents start_agents(const Plan& plan, const LauncherChoice& launchers, const LaunchOptions& options,
                    const std::string& mark);

}  // namespace lp::internal
