#pragma once
// The part of a run that lives in one process: the services placed here, their threads, and the connections to all
// others. A launcher makes one Runtime for its own process (threads), or one in every child (processes). The supervisor
// controls it through these few calls and is notified through Observer. Thread-safe.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/scheduler.h"
#include "lp/program/node_event.h"
#include "lp/program/peer_state.h"
#include "lp/program/program.h"
#include "lp/rpc/client.h"
#include "lp/rpc/core/run_settings.h"
#include "lp/rpc/observation/metric_sample.h"
#include "lp/rpc/observation/span_recorder.h"
#include "lp/rpc/observation/waits.h"

namespace lp {

class Runtime {
 public:
  struct Options {
    RunSettings run{};  // the same in all processes of the run
    ProcessSettings process{};
    bool network = false;                      // listens, so that other processes can call nodes of this one
    std::shared_ptr<const Program> program{};  // kept as long as anything uses it
  };

  // Receives the events of nodes. Many threads call it; it must not block or throw.
  class Observer {
   public:
    virtual ~Observer() = default;
    virtual void on_event(NodeEvent event) = 0;
  };

  // `program` and `observer` must outlive the runtime. The program must also outlive threads that the runtime leaves
  // behind: where there may be such threads, `options` own it.
  Runtime(const Program& program, Options options, Observer& observer);
  // Stops all nodes that still run. Threads that do not end within a second are abandoned, and the state that they use
  // is kept.
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // The endpoint at which other processes reach this one (network.h); empty without a network.
  std::string endpoint() const;

  // How many messages were refused: messages of strangers, malformed ones, and those of a connection without a
  // greeting.
  std::uint64_t refused() const;

  // The calls that this process has made so far, by caller, callee and method.
  std::vector<CallStatistics> calls() const;

  // Adds the metrics that this node has defined, and those of its queue, if it is here.
  void add_metrics(NodeId node, MetricSamples& all) const;

  // What the nodes of this process wait for now, with so many calls for each node at most. Needs nobody's turn.
  ProcessWaits waits(std::size_t calls = ProcessWaits::kMost) const;

  // Records the spans of this process, when asked to.
  SpanRecorder& spans() const;

  // Takes news of nodes elsewhere. Calls go to the newest incarnation; messages that an older one still sends are
  // refused.
  void update(std::span<const PeerState> peers);

  // Builds the node's service in a thread of its own and serves it; Ready or Failed follows. With `cut`, load()
  // receives the values that save() wrote at that step.
  void start(NodeId node, std::uint32_t incarnation, const std::filesystem::path& cut = {});
  // Begins run(), if the node has one; Finished or Failed follows. Call it once for each start, after Ready.
  void run(NodeId node);
  // Asks the node to end: Context::stopping becomes true and every wait of its threads ends with `stopped`. Returns at
  // once.
  void stop(NodeId node, const std::string& reason);
  // Notes that the run ends: nodes elsewhere are asked to end, too. From now on a call that its callee leaves without a
  // reply is not lost. It ends when its caller is stopped.
  void end_run();
  // Waits until the node's run() has ended and its last handler has returned, then destroys the service. Returns false
  // when `until` passed first: the node is still there, and may be abandoned.
  bool join(NodeId node, Time until);
  // Gives up a node that does not end. It keeps its thread and its memory, and its later events are ignored.
  void abandon(NodeId node);
  // Confirms that Saved was handled. The node's next save waits for that, so that cuts are not taken faster than
  // they are completed.
  void may_save(NodeId node);
  // Notes that the cut `step`, and with it every older one, is complete, or that it never will be.
  void end_cut(std::uint64_t step, bool complete);
  // Ends every call that waits, and every later one, with `stopped`. Nodes of this process stay as they are.
  void close();
  // Reports Alive from the service's own turn, and Busy before it if the turn is taken. If the holder of the turn waits
  // in a call of lp, which has a deadline, it reports Alive at once.
  void probe(NodeId node);

  // Returns a client for code outside the graph: a report, a test, the launcher's own code.
  template <class S>
  Client<S> client(const Handle<S>& handle) {
    return Client<S>(outside_edge(handle.name(), internal::interface_of<S>()));
  }
  template <class S>
  Clients<S> client(const GroupHandle<S>& group) {
    std::vector<Client<S>> all;
    all.reserve(static_cast<std::size_t>(group.size()));
    for (int i = 0; i < group.size(); ++i) all.push_back(client(group[i]));
    return Clients<S>(std::move(all), membership(group.name(), group.size()));
  }

 private:
  friend class Context;
  struct State;
  Edge& outside_edge(const std::string& node, const internal::Interface& service);
  rpc::Membership* membership(const std::string& group, int size);
  std::unique_ptr<State> state_;
};

}  // namespace lp
