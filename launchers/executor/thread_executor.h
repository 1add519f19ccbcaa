#pragma once
// Runs nodes as threads of this process, in one Runtime. The loop thread calls the executor. Any thread may report
// events of the runtime; they are posted to the loop.

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "launchers/os/event_loop.h"
#include "launchers/os/thread_states.h"
#include "launchers/plan/placer.h"
#include "launchers/supervisor/executor.h"
#include "launchers/supervisor/supervision_graph.h"
#include "lp/base/scheduler.h"
#include "lp/program/runtime.h"

namespace lp::launch {

class ThreadExecutor final : public Executor, public Runtime::Observer {
 public:
  ThreadExecutor(const SupervisionGraph& graph, Placer placer, EventLoop& loop);
  ~ThreadExecutor() override;

  // Call it first. Both objects must outlive this one.
  void attach(Runtime& runtime, ExecutorEvents& events);
  // This object makes no calls after it. Returns false when the thread that ends nodes hangs in a node's destructor and
  // still uses the runtime. Abandoned nodes keep the parts of the runtime that they use alive.
  bool close();

  std::string make_key(std::size_t) override { return {}; }
  std::string place(std::size_t process, bool needed) override { return placer_.place(process, needed); }
  void release(std::size_t process) override { placer_.release(process); }
  std::string delay(std::size_t) override { return {}; }
  void start(std::size_t process, std::uint32_t incarnation, const std::filesystem::path& cut) override;
  void update(std::size_t process, std::span<const PeerState> peers) override;
  void order(NodeId node, NodeOrder what) override;
  void end_cut(std::size_t process, std::uint64_t step, bool complete) override;
  void stop(std::size_t process, const std::string& reason, bool run_ends) override;
  void kill(std::size_t process) override;
  void measure(std::span<const std::size_t> processes, Inquiry what) override;
  void record_spans(std::span<const std::size_t> processes, const SpanOrder& order) override;
  void abandon(const std::string& why) override;

  void on_event(NodeEvent event) override;

 private:
  // A process that is stopping. The ender waits for its nodes one after the other.
  struct Ending {
    std::size_t process = 0;
    std::uint32_t incarnation = 0;
    std::vector<NodeId> nodes{};
    Time deadline = kNever;  // afterwards its nodes are abandoned
    bool abandoned = false;
  };
  struct Ender;

  void end(Ending ending);
  void measure_use(std::span<const std::size_t> processes);
  void measure_waits(std::span<const std::size_t> processes, std::optional<std::vector<ThreadState>> threads);
  void take_stacks(std::size_t process);

  const SupervisionGraph& graph_;
  Placer placer_;
  EventLoop& loop_;
  Runtime* runtime_ = nullptr;
  ExecutorEvents* events_ = nullptr;
  std::vector<std::uint32_t> incarnations_;  // by process; 0: the process does not run
  std::vector<bool> stopping_;               // by process
  bool left_behind_ = false;
  std::shared_ptr<Ender> ender_;  // shared with its thread, which may stay behind in a destructor that never ends
  Thread thread_;
  Thread stacks_;  // takes the stacks of this process
};

}  // namespace lp::launch
