#include "launchers/executor/process_nodes.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "launchers/executor/process_executor.h"
#include "launchers/os/descriptor_limit.h"
#include "launchers/plan/launch_check.h"
#include "launchers/plan/listen_address.h"
#include "launchers/record/node_output.h"
#include "launchers/remote/agent_group.h"
#include "launchers/remote/host_reconnector.h"
#include "lp/base/error.h"
#include "lp/base/secret.h"

namespace lp::launch {
namespace {

// The bounds of the lease of another host's agent, which is the grace otherwise. A grace may be without end.
constexpr Duration kLeastLease = std::chrono::seconds(2);
constexpr Duration kLongestLease = std::chrono::hours(24);

// The observer of a runtime without nodes, which has no events.
class NullObserver final : public Runtime::Observer {
  void on_event(NodeEvent) override {}
};

// The agents of all engines of a run.
struct Agents {
  struct Source {
    std::unique_ptr<AgentSource> engine{};
    std::size_t first = 0;  // the number of its first host in the run
  };
  std::vector<Source> sources{};
  std::vector<HostCapacity> hosts{};
  std::vector<std::unique_ptr<AgentLink>> links{};           // by host
  std::map<std::size_t, HostReconnector::Host> come_back{};  // by host
  std::vector<std::size_t> components{};                     // as in AgentGroup
  bool dedicated = false;                                    // as in AgentGroup

  void add(AgentGroup group, const std::string& listen) {
    const std::size_t first = hosts.size();
    for (RemoteAgent& agent : group.agents) {
      if (agent.capacity.spec.comes_back) come_back[hosts.size()] = {agent.capacity.spec, group.command};
      hosts.push_back(std::move(agent.capacity));
      hosts.back().spec.address = listen_address(hosts.back().spec, listen);
      links.push_back(std::move(agent.link));
    }
    if (group.source != nullptr) sources.push_back({std::move(group.source), first});
    if (!group.components.empty()) components = std::move(group.components);
    dedicated = dedicated || group.dedicated;
  }
};

Agents start_agents(const Launch& launch, const RemoteOptions& remote, const Executable& binary) {
  raise_descriptor_limit();
  Agents agents;
  for (const Engine* engine : launch.choice.engines()) {
    agents.add(engine->agents()->start(launch, {.remote = remote, .binary = binary, .others = agents.hosts}),
               launch.options.listen);
  }
  check_path(launch.options.path, agents.hosts.size());
  check_listen_addresses(agents.hosts);
  return agents;
}

class ProcessNodes final : public RunNodes {
 public:
  explicit ProcessNodes(const RunParts& parts);

  Executor& executor() override { return *executor_; }
  Runtime& runtime() override { return *runtime_; }
  void attach(ExecutorEvents& events) override { executor_->attach(events); }
  void update(std::span<const PeerState> peers) override { runtime_->update(peers); }
  Phase closing_phase() const override { return Phase::stopping; }
  void finish() override;
  std::string host_of(std::size_t process) const override;
  bool hold_output(bool hold) override;
  std::vector<std::string> last_lines(std::size_t process) const override { return output_.last_lines(process); }
  Time next() const override { return executor_->next(); }
  void advance(Time now) override { executor_->advance(now); }

 private:
  void attach_sources();

  const SupervisionGraph& graph_;
  EventLoop& loop_;
  NodeOutput output_;
  NullObserver observer_;
  std::vector<Agents::Source> sources_;
  std::unique_ptr<ProcessExecutor> executor_;
  std::unique_ptr<Runtime> runtime_;
  std::vector<std::string> last_hosts_;  // by process, when the executor has gone
};

std::vector<std::string> process_names(const SupervisionGraph& graph) {
  std::vector<std::string> names;
  for (const auto& process : graph.processes) names.push_back(process.name);
  return names;
}

NodeOutput::Options output_options(const LaunchOptions& options) {
  return {.logs = options.directory.empty() ? std::filesystem::path() : options.directory / "logs",
          .log_bytes = options.log_bytes,
          .lines = options.show == Show::lines,
          .all_to_error = options.all_to_error};
}

ProcessNodes::ProcessNodes(const RunParts& parts)
    : graph_(parts.graph),
      loop_(parts.loop),
      output_(process_names(parts.graph), output_options(parts.launch.options), parts.terminal) {
  const Launch& launch = parts.launch;
  const LaunchOptions& options = launch.options;
  const RemoteOptions remote{
      .mark = parts.mark, .lease = std::clamp(options.grace, kLeastLease, kLongestLease), .patience = options.start};
  Executable binary;
  Agents agents = start_agents(launch, remote, binary);
  const bool all_here = std::all_of(agents.hosts.begin(), agents.hosts.end(),
                                    [](const auto& one) { return is_loopback(one.spec.address); });
  RunSettings run = settings_of(options, launch.name);
  ProcessSettings process;
  run.token = secret_text(32);
  if (options.curve || !all_here || agents.dedicated) process.keys = make_curve_keys();
  run.outside_key = process.keys.public_key;
  Placer placer(launch.plan, parts.graph, std::move(agents.hosts),
                {.pin = options.pin,
                 .dedicated = agents.dedicated,
                 .launches = launch.choice.of_processes(launch.plan),
                 .components = std::move(agents.components),
                 .debug = options.debug,
                 .placements = options.placements});
  std::unique_ptr<HostReconnector> reconnector;
  if (!agents.come_back.empty()) {
    reconnector = std::make_unique<HostReconnector>(std::move(agents.come_back), remote, std::move(binary));
  }
  sources_ = std::move(agents.sources);
  executor_ = std::make_unique<ProcessExecutor>(
      parts.graph,
      NodeStart{.fingerprint = launch.program->fingerprint(),
                .entry = options.entry.empty() ? launch.program->name() : options.entry,
                .configuration = options.configuration,
                .run = run},
      parts.mark, std::move(placer), std::move(agents.links), std::move(reconnector), loop_, output_);
  runtime_ = std::make_unique<Runtime>(
      *launch.program, Runtime::Options{.run = std::move(run), .process = std::move(process), .network = true},
      observer_);
  attach_sources();
}

void ProcessNodes::attach_sources() {
  for (const Agents::Source& source : sources_) {
    source.engine->attach([this, first = source.first](std::size_t agent, Descriptor stream) {
      loop_.post([this, host = first + agent, stream = std::move(stream)]() mutable {
        executor_->connect(host, std::move(stream));
      });
    });
  }
}

void ProcessNodes::finish() {
  for (std::size_t process = 0; process < graph_.processes.size(); ++process)
    last_hosts_.push_back(executor_->host_of(process));
  for (const Agents::Source& source : sources_) source.engine->finish();
  executor_.reset();  // ends all processes that its nodes have left behind
  loop_.close();      // drops the streams of agents that have just dialed: a source waits for their end
  sources_.clear();
}

std::string ProcessNodes::host_of(std::size_t process) const {
  return executor_ != nullptr ? executor_->host_of(process) : last_hosts_[process];
}

bool ProcessNodes::hold_output(bool hold) {
  executor_->take_output(!hold);
  return hold;
}

}  // namespace

std::unique_ptr<RunNodes> make_process_nodes(const RunParts& parts) { return std::make_unique<ProcessNodes>(parts); }

}  // namespace lp::launch
