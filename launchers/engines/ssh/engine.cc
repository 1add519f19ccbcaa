#include "launchers/engines/ssh/engine.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "launchers/executor/process_nodes.h"
#include "launchers/plan/launch.h"
#include "launchers/plan/launch_check.h"
#include "launchers/remote/agent_group.h"
#include "launchers/remote/ssh_command.h"
#include "lp/base/error.h"

namespace lp::launch {
namespace {

class SshEngine final : public Engine, public AgentStarter {
 public:
  LaunchType type() const override { return LaunchType::ssh; }
  std::vector<EngineFlag> flags() const override { return {{"hosts"}, {"ssh"}, {"curve"}, {"resume"}, {"terminal"}}; }
  void check(const Launch& launch) const override;
  const AgentStarter* agents() const override { return this; }
  std::unique_ptr<RunNodes> make_nodes(const RunParts& parts) const override { return make_process_nodes(parts); }

  std::vector<HostCapacity> hosts(const Launch& launch) const override;
  AgentGroup start(const Launch& launch, const AgentStartOptions& options) const override;
};

// The name of the first group that the engine has.
std::string first_group(const Launch& launch, LaunchType type) {
  const std::vector<LaunchType>& types = launch.choice.of_groups();
  const auto at = std::find(types.begin(), types.end(), type) - types.begin();
  return launch.plan.groups[static_cast<std::size_t>(at)].options.name;
}

std::vector<HostSpec> hosts_of(const Launch& launch) {
  std::vector<HostSpec> hosts = launch.options.hosts;
  for (HostSpec& host : hosts) {
    host.launch = LaunchType::ssh;
    host.comes_back = true;
  }
  return hosts;
}

void SshEngine::check(const Launch& launch) const {
  check_not_debugged(launch);
  if (!launch.options.hosts.empty()) return;
  const std::string who =
      launch.choice.several() ? "group " + first_group(launch, type()) + " has the engine ssh, which" : "--launch=ssh";
  throw Error(ErrorKind::failed, who + " needs --hosts: give the hosts on which nodes run");
}

std::vector<HostCapacity> SshEngine::hosts(const Launch& launch) const {
  std::vector<HostCapacity> hosts;
  for (HostSpec& spec : hosts_of(launch)) hosts.push_back(ample_host(launch.plan, std::move(spec)));
  return hosts;
}

AgentGroup SshEngine::start(const Launch& launch, const AgentStartOptions& options) const {
  const CommandThere command = [words = launch.options.ssh](const HostSpec& host, const std::string& line) {
    return ssh_command(words, host.name, line);
  };
  return {.agents = start_agents_there(hosts_of(launch), command, options.remote, options.binary), .command = command};
}

}  // namespace

std::unique_ptr<Engine> ssh_engine() { return std::make_unique<SshEngine>(); }

}  // namespace lp::launch
