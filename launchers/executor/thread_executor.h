#pragma once
// Nodes as threads of this process, in one Runtime. The host's calls come from the loop thread; the runtime's news come
// from any thread and are posted to it.

#include <memory>
#include <mutex>
#include <vector>

#include "launchers/os/event_loop.h"
#include "launchers/plan/placement.h"
#include "launchers/supervisor/executor.h"
#include "launchers/supervisor/supervision_graph.h"
#include "lp/base/scheduler.h"
#include "lp/program/runtime.h"

namespace lp::internal {

class ThreadHost final : public Host, public Runtime::Observer {
 public:
  ThreadHost(const Topology& topology, Places places, Loop& loop);
  ~ThreadHost() override;

  // Before anything else: both must outlive this object.
  void attach(Runtime& runtime, HostEvents& events);
  // No calls of this object come after it. False when the thread that ends nodes hangs in one's destructor, and still
  // uses the runtime. Nodes that were abandoned keep what they use of it themselves.
  bool close();

  std::string make_key(std::size_t) override { return {}; }
  std::string place(std::size_t unit, bool needed) override { return places_.place(unit, needed); }
  void release(std::size_t unit) override { places_.release(unit); }
  std::string delay(std::size_t) override { return {}; }
  void start(std::size_t unit, std::uint32_t incarnation, const std::filesystem::path& cut) override;
  void update(std::size_t unit, std::span<const PeerState> peers) override;
  void run(NodeId node) override;
  void may_save(NodeId node) override;
  void stop(std::size_t unit, const std::string& reason, bool run_ends) override;
  void kill(std::size_t unit) override;
  void probe(NodeId node) override;
  void measure(std::span<const std::size_t> units) override;
  void abandon(const std::string& why) override;

  void on_ready(NodeId node, std::uint32_t incarnation) override;
  void on_finished(NodeId node, std::uint32_t incarnation) override;
  void on_failed(NodeId node, std::uint32_t incarnation, const Error& error) override;
  void on_stop_requested(NodeId node, const std::string& reason) override;
  void on_progress(NodeId node, const Progress& progress) override;
  void on_saved(NodeId node, std::uint64_t step) override;
  void on_not_saved(NodeId node, std::uint64_t step, const Error& error) override;

 private:
  // A unit that was told to stop: the ender waits for its nodes, one after the other.
  struct Ending {
    std::size_t unit = 0;
    std::uint32_t incarnation = 0;
    std::vector<NodeId> nodes{};
    Time deadline = kNever;  // then its nodes are abandoned
    bool abandoned = false;
  };
  struct Ender;

  void end(Ending ending);
  std::uint32_t incarnation_of(NodeId node) const { return incarnations_[topology_.nodes[node].unit]; }

  const Topology& topology_;
  Places places_;
  Loop& loop_;
  Runtime* runtime_ = nullptr;
  HostEvents* events_ = nullptr;
  std::vector<std::uint32_t> incarnations_;  // by unit; 0: it is not there
  std::vector<bool> stopping_;               // by unit
  bool left_behind_ = false;
  std::shared_ptr<Ender> ender_;  // shared with its thread, which may stay behind in a destructor that never ends
  Thread thread_;
};

}  // namespace lp::internal
