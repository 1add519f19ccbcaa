#include "launchers/engines/threads/engine.h"

#include <string>
#include <vector>

#include "launchers/engines/threads/thread_nodes.h"
#include "launchers/plan/launch.h"
#include "lp/base/enums.h"
#include "lp/base/error.h"
#include "lp/rpc/core/curve_keys.h"

namespace lp::launch {
namespace {

class ThreadsEngine final : public Engine {
 public:
  LaunchType type() const override { return LaunchType::threads; }
  std::vector<EngineFlag> flags() const override { return {{"resume"}}; }
  bool on_this_host() const override { return true; }
  void check(const Launch& launch) const override;
  const AgentStarter* agents() const override { return nullptr; }
  std::unique_ptr<RunNodes> make_nodes(const RunParts& parts) const override { return make_thread_nodes(parts); }
};

void ThreadsEngine::check(const Launch& launch) const {
  const LaunchOptions& options = launch.options;
  if (!options.debug.empty()) {
    throw Error(ErrorKind::failed, "a single node can be debugged only if nodes are processes: add --launch=processes");
  }
  if (options.path == Path::shm || options.path == Path::tcp) {
    throw Error(ErrorKind::failed, "--path=" + std::string(enum_name(options.path)) + " needs --launch=processes");
  }
  if (options.curve || !is_loopback(options.listen)) {
    throw Error(ErrorKind::failed, "--curve and --listen need --launch=processes: threads do not use the network");
  }
}

}  // namespace

std::unique_ptr<Engine> threads_engine() { return std::make_unique<ThreadsEngine>(); }

}  // namespace lp::launch
