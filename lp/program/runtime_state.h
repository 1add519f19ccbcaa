#pragma once
// The state of a Runtime. Every start of a node has an incarnation, which stays until the run ends because callers may
// still hold its core. The service itself is destroyed when the node ends. Internal to lp/program.

#include <atomic>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "lp/program/cut_ends.h"
#include "lp/program/metric_registry.h"
#include "lp/program/program.h"
#include "lp/program/runtime.h"
#include "lp/rpc/core/local_process.h"
#include "lp/rpc/core/service_instance.h"
#include "lp/rpc/membership.h"

namespace lp {

struct Runtime::State {
  State(const Program& the_program, Options the_options, Observer& the_observer);

  const Program& program;
  const Options options;
  Observer& observer;
  std::deque<std::unique_ptr<Context::Incarnation>>
      incarnations;  // all that were started; the process's threads use them
  rpc::LocalProcess process;
  std::mutex mutex;
  std::vector<Context::Incarnation*> current;  // by node; null when the node is not here
  std::vector<std::string> endpoints;          // by node: endpoints of nodes elsewhere
  std::vector<std::string> keys;               // by node: public keys of nodes elsewhere
  std::vector<std::unique_ptr<Edge>> outside;  // by node
  std::deque<rpc::Membership> members;         // by group
  CutEnds cuts;
  std::set<std::filesystem::path> scratch;  // directories that go with this process, in a run that has none

  rpc::LocalProcess::Options process_options();
  rpc::Membership* membership(const std::string& group, int size);  // null if the size is 0
  void update_members(std::span<const PeerState> news);
  std::string endpoint() const;
  void close();

  Context::Incarnation* find(NodeId node) {
    const std::lock_guard lock(mutex);
    return current[node];
  }
};

// One incarnation of a node.
struct Context::Incarnation {
  Incarnation(Runtime::State& the_runtime, NodeId node, std::uint32_t incarnation)
      : runtime(the_runtime),
        spec(the_runtime.program.nodes()[node]),
        core(the_runtime.process, node, incarnation, spec.type->methods),
        context(*this) {}

  void build(const std::filesystem::path& cut) noexcept;
  void run() noexcept;
  bool begins_cut(std::uint64_t step);
  void save(std::uint64_t step);
  void end_saving() noexcept;
  void save_at_end(std::uint64_t step);  // called by the holder of the turn
  std::vector<NodeEvent::Answer> answers();
  bool stop_and_wait(Time until);
  void probe();
  // Notifies the supervisor, unless the node was given up. Then it returns false.
  bool report(NodeEvent::What what);

  Runtime::State& runtime;
  const NodeSpec& spec;
  rpc::ServiceInstance core;
  Context context;
  MetricRegistry metrics;  // outlives the object, whose members use it
  std::unique_ptr<NodeObject> object;
  std::vector<std::uint64_t> due;  // steps to save when the turn ends; owned by the holder of the turn
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<Edge>> edges;
  std::optional<std::uint64_t> last_cut;  // the last step that this incarnation saved or was restored from
  std::atomic<bool> abandoned = false;
  std::atomic<int> working = 0;            // tasks of the pool that use this object: building and saving
  Event quiet;                             // working became 0
  std::atomic<bool> cuts_reports = false;  // the log has that a report was too long
  std::atomic<bool> saving = false;        // true until the supervisor permits the next save
  Event may_save;                          // saving became false
  Thread thread;                           // runs run()
};

}  // namespace lp
