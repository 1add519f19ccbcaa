#pragma once
// The agents of a run, one on each of its hosts: on this one, by ssh, and in a job of Slurm, whichever its groups have.
// Those of pods come by themselves (Reception).

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

constexpr Duration kLeastLease = std::chrono::seconds(2);  // of the agent of another host

struct Agents {
  std::vector<HostCapacity> hosts{};
  std::vector<std::unique_ptr<AgentLink>> links{};  // by host
  std::unique_ptr<Redial> redial{};                 // of the hosts of ssh; null: there are none
  std::unique_ptr<SlurmStep> step{};                // of those of the job; null: there is none
  std::vector<std::size_t> components{};            // of the job, by process; empty: it has one
};

// Throws Error for what is wrong with such a launch, as far as that is known before there are hosts.
void check_agents(const Plan& plan, const GroupLaunchers& launchers, const LaunchOptions& options);

// `mark` is that of the run's processes. Throws Error when one cannot be had; then nothing is left running.
Agents start_agents(const Plan& plan, const GroupLaunchers& launchers, const LaunchOptions& options,
                    const std::string& mark);

}  // namespace lp::internal
