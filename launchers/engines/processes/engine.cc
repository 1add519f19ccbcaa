#include "launchers/engines/processes/engine.h"

#include <utility>
#include <vector>

#include "launchers/executor/process_nodes.h"
#include "launchers/os/descriptor_limit.h"
#include "launchers/plan/launch.h"
#include "launchers/plan/listen_address.h"
#include "launchers/remote/agent_group.h"

namespace lp::launch {
namespace {

class ProcessesEngine final : public Engine, public AgentStarter {
 public:
  LaunchType type() const override { return LaunchType::processes; }
  std::vector<EngineFlag> flags() const override {
    return {{"listen"}, {"curve"}, {"resume"}, {.name = "debug", .alone = true}, {"terminal"}};
  }
  bool on_this_host() const override { return true; }
  void check(const Launch&) const override {}
  const AgentStarter* agents() const override { return this; }
  std::unique_ptr<RunNodes> make_nodes(const RunParts& parts) const override { return make_process_nodes(parts); }

  std::vector<HostCapacity> hosts(const Launch&) const override { return {capacity_here()}; }
  AgentGroup start(const Launch& launch, const AgentStartOptions& options) const override;
};

AgentGroup ProcessesEngine::start(const Launch& launch, const AgentStartOptions& options) const {
  check_descriptors(launch.plan.processes, raise_descriptor_limit());
  RemoteAgent agent{.link = nullptr, .capacity = capacity_here()};
  agent.capacity.spec.address = own_listen_address(options.others, launch.options.listen);
  agent.link = start_agent_here(options.remote.mark);
  AgentGroup group;
  group.agents.push_back(std::move(agent));
  return group;
}

}  // namespace

std::unique_ptr<Engine> processes_engine() { return std::make_unique<ProcessesEngine>(); }

}  // namespace lp::launch
