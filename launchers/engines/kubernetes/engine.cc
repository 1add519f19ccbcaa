#include "launchers/engines/kubernetes/engine.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launchers/engines/kubernetes/kubectl.h"
#include "launchers/engines/kubernetes/manifests.h"
#include "launchers/engines/kubernetes/pod_environment.h"
#include "launchers/engines/kubernetes/submit.h"
#include "launchers/executor/process_nodes.h"
#include "launchers/os/run_command.h"
#include "launchers/plan/launch.h"
#include "launchers/plan/launch_check.h"
#include "launchers/remote/agent_acceptor.h"
#include "launchers/remote/agent_group.h"
#include "lp/base/error.h"

namespace lp::launch {
namespace {

class KubernetesJobs final : public Jobs {
 public:
  std::string_view engine() const override { return "Kubernetes"; }
  std::string name_of(const RunRecord& run) const override {
    return run.kubectl.empty() ? "" : "pod " + coordinator_pod(run.run);
  }
  JobState poll(const RunRecord& run, const std::filesystem::path& directory) const override;
  std::string place_of(const RunRecord&, const JobState&) const override { return "in cluster"; }
  std::string activity_of(const RunRecord&, const JobState& state) const override { return "runs" + state.why(); }
  bool keeps_files() const override { return true; }
  std::vector<std::string> command_beside(const RunRecord& run, const JobState& state,
                                          const std::string& flag) const override;
  std::string cancel(const RunRecord& run, const std::filesystem::path& directory,
                     const Cancellation& how) const override;
  void remove(const RunRecord& run) const override { Kubectl(run.kubectl).remove(run.run); }
};

// The cluster forgets the result of the coordinator.
JobState KubernetesJobs::poll(const RunRecord& run, const std::filesystem::path& directory) const {
  CoordinatorState state = Kubectl(run.kubectl).poll(run.run);
  if (state.job.ended() && !state.result.empty()) static_cast<void>(keep_result(directory, state, {}));
  return std::move(state.job);
}

std::vector<std::string> KubernetesJobs::command_beside(const RunRecord& run, const JobState&,
                                                        const std::string& flag) const {
  std::vector<std::string> command = split_command(run.kubectl);
  // The program is the first process of its container, wherever its file is in the image.
  command.insert(command.end(), {"exec", "--stdin", coordinator_pod(run.run), "--", "/proc/1/exe", flag});
  return command;
}

std::string KubernetesJobs::cancel(const RunRecord& run, const std::filesystem::path& directory,
                                   const Cancellation& how) const {
  remove(run);
  static_cast<void>(keep_result(directory, {}, how.by + (how.reason.empty() ? "" : ": " + how.reason)));
  return "its objects are removed from the cluster";
}

class CoordinatorPod final : public OwnJob {
 public:
  std::string number() const override { return {}; }
  bool continues(const std::filesystem::path&) const override { return false; }
  void claim(const std::filesystem::path&) const override {}
  bool is_superseded(const std::filesystem::path&) const override { return false; }
  void finish(const Launch& launch, const RunResult&, bool) const override { leave_result(launch.flags.directory); }
};

// The agents of pods dial, now and each time Kubernetes has started a pod again.
class PodAgents final : public AgentSource {
 public:
  explicit PodAgents(AgentAcceptor::Options options) : options_(std::move(options)) {}
  void attach(Arrived arrived) override {
    acceptor_ = std::make_unique<AgentAcceptor>(std::move(options_), std::move(arrived));
  }
  void finish() override { acceptor_->finish(); }

 private:
  AgentAcceptor::Options options_;
  std::unique_ptr<AgentAcceptor> acceptor_;
};

class KubernetesEngine final : public Engine, public AgentStarter {
 public:
  LaunchType type() const override { return LaunchType::kubernetes; }
  std::vector<EngineFlag> flags() const override {
    return {{"image"},
            {"node_selector"},
            {"tolerations"},
            {"kubectl"},
            {.name = "submit", .alone = true},
            {.name = "render", .alone = true},
            {"curve"}};
  }
  std::string_view why_alone() const override {
    return "pods can be reached only within their cluster: give the engine kubernetes to all groups of a program, or "
           "to none";
  }
  void check(const Launch& launch) const override {
    check_not_debugged(launch);
    check_whole_gpus(launch, type());
  }
  bool submits() const override { return !in_pod(); }
  std::optional<int> submit(const Launch& launch) const override;
  bool names_run_by_directory() const override { return in_pod(); }
  const OwnJob* own_job() const override { return in_pod() ? &own_job_ : nullptr; }
  const Jobs* jobs() const override { return &jobs_; }
  std::string new_mark(const std::string& run) const override { return run; }  // which the agents know from elsewhere
  const AgentStarter* agents() const override { return this; }
  std::unique_ptr<RunNodes> make_nodes(const RunParts& parts) const override { return make_process_nodes(parts); }

  std::vector<HostCapacity> hosts(const Launch&) const override { return {}; }
  AgentGroup start(const Launch& launch, const AgentStartOptions& options) const override;

 private:
  const KubernetesJobs jobs_{};
  const CoordinatorPod own_job_{};
};

std::optional<int> KubernetesEngine::submit(const Launch& launch) const {
  if (!submits()) return std::nullopt;
  return submit_to_kubernetes(launch);
}

// Each process has a pod, in the order of processes.
AgentGroup KubernetesEngine::start(const Launch& launch, const AgentStartOptions& options) const {
  AgentGroup group{.dedicated = true};
  for (const std::string& host : pod_names(launch.plan)) {
    group.agents.push_back({.link = std::make_unique<AgentLink>(
                                AgentLink::Options{.host = host, .lease = options.remote.lease, .dials = true}),
                            .capacity = {.spec = {.name = host, .launch = type()}}});
  }
  AgentAcceptor::Options acceptor = acceptor_of_pod();
  acceptor.lease = std::chrono::ceil<std::chrono::seconds>(options.remote.lease);
  if (acceptor.agents.size() != group.agents.size()) {
    throw Error(ErrorKind::failed, "the run's Secret has keys for " + std::to_string(acceptor.agents.size()) +
                                       " processes, and the program has " + std::to_string(group.agents.size()) +
                                       ": do its flags differ from those that it was rendered with?");
  }
  group.source = std::make_unique<PodAgents>(std::move(acceptor));
  return group;
}

}  // namespace

std::unique_ptr<Engine> kubernetes_engine() { return std::make_unique<KubernetesEngine>(); }

}  // namespace lp::launch
