#include "launchers/engines/slurm/engine.h"

#include <signal.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launchers/control/process_roles.h"
#include "launchers/engines/slurm/agents.h"
#include "launchers/engines/slurm/allocation.h"
#include "launchers/engines/slurm/batch_script.h"
#include "launchers/engines/slurm/job.h"
#include "launchers/engines/slurm/job_resources.h"
#include "launchers/engines/slurm/submit.h"
#include "launchers/executor/process_nodes.h"
#include "launchers/plan/launch.h"
#include "launchers/plan/launch_check.h"
#include "lp/base/error.h"

namespace lp::launch {
namespace {

class SlurmJobs final : public Jobs {
 public:
  std::string_view engine() const override { return "Slurm"; }
  std::string name_of(const RunRecord& run) const override { return run.job.empty() ? "" : "job " + run.job; }
  JobState poll(const RunRecord& run, const std::filesystem::path&) const override { return poll_job(run.job); }
  std::string place_of(const RunRecord& run, const JobState& state) const override {
    return "on " + host_of(run, state);
  }
  std::string activity_of(const RunRecord& run, const JobState& state) const override {
    return "runs; its coordinator is on " + host_of(run, state);
  }
  bool keeps_files() const override { return false; }
  std::vector<std::string> command_beside(const RunRecord& run, const JobState& state,
                                          const std::string& flag) const override;
  std::string cancel(const RunRecord& run, const std::filesystem::path&, const Cancellation& how) const override {
    launch::cancel(run.job, how.force);
    return {};
  }
  void remove(const RunRecord&) const override {}

 private:
  static std::string host_of(const RunRecord& run, const JobState& state) {
    return state.host.empty() ? run.host : state.host;
  }
};

std::vector<std::string> SlurmJobs::command_beside(const RunRecord& run, const JobState& state,
                                                   const std::string& flag) const {
  std::vector<std::string> command{"srun",
                                   "--jobid=" + run.job,
                                   "--overlap",
                                   "--nodes=1",
                                   "--ntasks=1",
                                   "--mem=0",
                                   "--nodelist=" + host_of(run, state),
                                   "--unbuffered",
                                   "--quiet",
                                   "--mpi=none"};
  if (state.heterogeneous) command.emplace_back("--het-group=0");  // the coordinator is in the first component
  command.insert(command.end(), {run.binary, flag});
  return command;
}

class SlurmOwnJob final : public OwnJob {
 public:
  std::string number() const override { return launch::own_job(); }
  bool continues(const std::filesystem::path& directory) const override { return is_of_this_job(directory); }
  void claim(const std::filesystem::path& directory) const override { claim_for_this_start(directory); }
  bool is_superseded(const std::filesystem::path& directory) const override { return launch::is_superseded(directory); }
  // Without a cut of its own, the next start would get no further.
  void finish(const Launch& launch, const RunResult& result, bool advanced) const override {
    if (launch.flags.requeue && result.signal == SIGUSR2 && advanced) requeue(launch.flags.directory);
  }
};

class SlurmEngine final : public Engine, public AgentStarter {
 public:
  LaunchType type() const override { return LaunchType::slurm; }
  std::vector<EngineFlag> flags() const override {
    return {{"slurm"},
            {.name = "time_margin", .alone = true},
            {.name = "requeue", .alone = true},
            {.name = "submit", .alone = true},
            {.name = "render", .alone = true},
            {"curve"},
            {"resume"}};
  }
  void check(const Launch& launch) const override;
  bool submits() const override { return launch::own_job().empty(); }
  std::optional<int> submit(const Launch& launch) const override;
  bool names_run_by_directory() const override { return true; }
  const OwnJob* own_job() const override { return submits() ? nullptr : &own_job_; }
  const Jobs* jobs() const override { return &jobs_; }
  std::unique_ptr<Reservation> reserve(const Launch& launch) const override;
  const AgentStarter* agents() const override { return this; }
  std::unique_ptr<RunNodes> make_nodes(const RunParts& parts) const override { return make_process_nodes(parts); }

  std::vector<HostCapacity> hosts(const Launch& launch) const override {
    return {ample_host(launch.plan, {.launch = LaunchType::slurm})};
  }
  AgentGroup start(const Launch& launch, const AgentStartOptions& options) const override;

 private:
  const SlurmJobs jobs_{};
  const SlurmOwnJob own_job_{};
};

void SlurmEngine::check(const Launch& launch) const {
  check_not_debugged(launch);
  if (submits()) check_whole_gpus(launch, type());  // an allocation that is there is taken as it is
  if (!launch.flags.requeue || !launch.flags.directory.empty()) return;
  throw Error(ErrorKind::failed,
              "--requeue needs --directory, a directory that all hosts of the cluster share: the next host reads the "
              "last checkpoint there");
}

std::optional<int> SlurmEngine::submit(const Launch& launch) const {
  if (!submits()) return std::nullopt;
  return submit_to_slurm(launch);
}

std::vector<SlurmComponent> components_of(const Launch& launch) {
  return slurm_components(launch.plan, launch.options.placements, launch.choice.of_processes(launch.plan));
}

// A run of several engines stays here, and asks for an allocation for its groups of Slurm.
std::unique_ptr<Reservation> SlurmEngine::reserve(const Launch& launch) const {
  if (!submits()) return nullptr;
  return std::make_unique<SlurmAllocation>(components_of(launch), launch.flags.slurm);
}

AgentGroup SlurmEngine::start(const Launch& launch, const AgentStartOptions& options) const {
  const std::vector<SlurmComponent> components = components_of(launch);
  const std::vector<HostSpec> nodes = slurm_hosts(components.size());
  auto agents = std::make_unique<SlurmAgents>(nodes, options.remote);
  AgentGroup group;
  group.agents = agents->take_agents();
  group.source = std::move(agents);
  if (nodes.back().component > 0) group.components = component_of_processes(launch.plan, components);
  return group;
}

}  // namespace

std::unique_ptr<Engine> slurm_engine() { return std::make_unique<SlurmEngine>(); }

}  // namespace lp::launch
