#include "tests/launchers/local/engine_for_test.h"

#include <limits>
#include <string>

#include "launchers/executor/process_nodes.h"
#include "launchers/plan/launch.h"
#include "launchers/plan/launch_check.h"
#include "launchers/remote/agent_group.h"

namespace lp::test {
namespace {

using namespace launch;

class LocalEngine final : public Engine, public AgentStarter {
 public:
  LaunchType type() const override { return kLocal; }
  std::vector<EngineFlag> flags() const override { return {{"curve"}, {"resume"}}; }
  bool on_this_host() const override { return true; }
  void check(const Launch& launch) const override { check_not_debugged(launch); }
  const AgentStarter* agents() const override { return this; }
  std::unique_ptr<RunNodes> make_nodes(const RunParts& parts) const override { return make_process_nodes(parts); }

  std::vector<HostCapacity> hosts(const Launch&) const override { return {capacity_here()}; }
  AgentGroup start(const Launch&, const AgentStartOptions& options) const override {
    const HostSpec here{.name = "here", .slots = std::numeric_limits<int>::max(), .launch = type()};
    const CommandThere shell = [](const HostSpec&, const std::string& line) {
      return std::vector<std::string>{"sh", "-c", line};
    };
    AgentGroup group;
    group.agents = start_agents_there({here}, shell, options.remote, options.binary);
    return group;
  }
};

}  // namespace

std::unique_ptr<launch::Engine> local_engine() { return std::make_unique<LocalEngine>(); }

}  // namespace lp::test
