#include "launchers/engines/threads/thread_nodes.h"

#include <span>

#include "launchers/executor/thread_executor.h"

namespace lp::launch {
namespace {

Runtime::Options runtime_options(const Launch& launch) {
  return {.run = settings_of(launch.options, launch.name), .program = launch.program};
}

class ThreadNodes final : public RunNodes {
 public:
  explicit ThreadNodes(const RunParts& parts)
      : loop_(parts.loop),
        executor_(parts.graph, Placer(parts.launch.plan, parts.graph, {capacity_here()}, {}), parts.loop),
        runtime_(std::make_unique<Runtime>(*parts.launch.program, runtime_options(parts.launch), executor_)) {}
  ~ThreadNodes() override {
    if (!executor_.close()) static_cast<void>(runtime_.release());  // abandoned threads still use it
  }
  ThreadNodes(const ThreadNodes&) = delete;
  ThreadNodes& operator=(const ThreadNodes&) = delete;

  Executor& executor() override { return executor_; }
  Runtime& runtime() override { return *runtime_; }
  void attach(ExecutorEvents& events) override { executor_.attach(*runtime_, events); }
  void update(std::span<const PeerState> peers) override { executor_.update(0, peers); }
  Phase closing_phase() const override { return Phase::ended; }
  void finish() override {
    executor_.close();
    loop_.close();
  }

 private:
  EventLoop& loop_;
  ThreadExecutor executor_;
  std::unique_ptr<Runtime> runtime_;
};

}  // namespace

std::unique_ptr<RunNodes> make_thread_nodes(const RunParts& parts) { return std::make_unique<ThreadNodes>(parts); }

}  // namespace lp::launch
