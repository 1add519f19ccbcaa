#pragma once
// Everything of one run that lives in one process: the services placed here, their threads, and the way to all others.
// A launcher makes one Runtime for its own process (threads), or one in every child (processes); the supervisor drives
// it through these few calls and hears of it through Observer. Thread-safe.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/scheduler.h"
#include "lp/program/program.h"
#include "lp/rpc/client.h"
#include "lp/rpc/core/curve.h"
#include "lp/rpc/core/path.h"

namespace lp {

// Where a node is now. An empty endpoint means that it is not up, and calls to it wait for its next incarnation.
struct PeerState {
  NodeId node = 0;
  std::uint32_t incarnation = 0;
  std::string endpoint{};
  std::string key{};  // public key of its process, where the run has keys; without it, that process may not call
  bool gone = false;  // it is not there, and will not come by itself: calls to it fail at once with `text`
  std::string text{};
  std::uint64_t epoch = 0;  // of its group, with this news: how often members have come or gone
};

class Runtime {
 public:
  struct Options {
    std::string run{};                         // the run's name, for messages
    std::uint64_t seed = 0;                    // of the whole program
    std::shared_ptr<const Program> program{};  // kept as long as anything uses it
    std::filesystem::path directory{};         // of the run; checkpoints go below it; empty: none are taken
    bool network = false;                      // listens, so that other processes can call nodes that are here
    Path path = Path::nearest;                 // to other processes: nearest, shm or tcp
    std::string listen = "127.0.0.1";          // address of this process; beyond loopback only with keys
    CurveKeys keys{};           // of this process: calls by TCP are encrypted, and only known keys may call
    std::string outside_key{};  // public key of who calls from outside the graph
    std::size_t memory = 0;  // bytes, of which calls that wait may have a part (lp/rpc/core/budget.h); 0: the machine's
    std::size_t shared_memory = 0;  // bytes that big arrays may take there; 0: as much as the machine has memory
    std::string token{};            // secret of the run: other processes must show it
    bool serialize = false;         // local calls go through bytes too (for tests)
    bool patient = false;           // a person debugs: no deadline ends a call
    Duration deadline = std::chrono::seconds(60);  // of a call, where neither the call nor the method says
    int keep_cuts = 3;                             // how many complete cuts stay on disk
  };

  // What nodes tell their supervisor. Called from many threads; must not block or throw.
  class Observer {
   public:
    virtual ~Observer() = default;
    virtual void on_ready(NodeId node, std::uint32_t incarnation) = 0;     // constructed, loaded, serving
    virtual void on_finished(NodeId node, std::uint32_t incarnation) = 0;  // run() returned
    virtual void on_failed(NodeId node, std::uint32_t incarnation,
                           const Error& error) = 0;                              // constructor, load, run, save
    virtual void on_stop_requested(NodeId node, const std::string& reason) = 0;  // Context::stop_program
    virtual void on_progress(NodeId node, const Progress& progress) = 0;
    // Its part of the cut `step` is durable on disk. may_save() is to be called, now or later.
    virtual void on_saved(NodeId node, std::uint64_t step) = 0;
    virtual void on_not_saved(NodeId node, std::uint64_t step,
                              const Error& error) = 0;  // a full disk: earlier cuts stay
  };

  // `program` and `observer` must outlive the runtime; and the program, threads that it leaves behind: where there may
  // be some, `options` own it.
  Runtime(const Program& program, Options options, Observer& observer);
  // Stops what still runs. Threads that do not end within a second are abandoned, and what they use is kept.
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // Where other processes reach this one (network.h); empty without network.
  std::string endpoint() const;

  // How many messages were refused: of strangers, malformed, or of a connection that was not greeted.
  std::uint64_t refused() const;

  // The calls that this process has made so far, by caller, callee and method.
  std::vector<CallStatistics> calls() const;

  // News of nodes elsewhere. Calls go to the newest incarnation; what an older one still sends is refused.
  void update(std::span<const PeerState> peers);

  // Builds the node's service in a thread of its own and serves it; on_ready or on_failed follows. With `cut` its
  // load() gets what save() wrote at that step.
  void start(NodeId node, std::uint32_t incarnation, const std::filesystem::path& cut = {});
  // Begins run(), where the node has one; on_finished or on_failed follows. Once for each start, after on_ready.
  void run(NodeId node);
  // Asks the node to end: Context::stopping is true and every wait of its threads ends with `stopped`. Returns at once.
  void stop(NodeId node, const std::string& reason);
  // The run ends, so nodes elsewhere are asked, too: a call that its callee leaves without a reply is not lost but ends
  // with the stop, which its caller hears of itself.
  void end_run();
  // Waits until the node's run() has ended and its last handler has returned, then destroys the service. False when
  // `until` came first: the node is still there, and may be abandoned.
  bool join(NodeId node, Time until);
  // Gives up a node that does not end: it keeps its thread and its memory, and nothing it still says counts.
  void abandon(NodeId node);
  // What on_saved told is dealt with. The node's next save waits for that, so that cuts are not taken faster than they
  // are completed.
  void may_save(NodeId node);
  // Ends every call that waits, and every one that is still made, with `stopped`. Nodes that are here stay as they are.
  void close();
  // Calls `alive` from the service's own turn (or at once when its turn waits in a call of lp, which has a deadline).
  void probe(NodeId node, Function<void()> alive);
  // What the service does in its turn; nothing when that is free, or waits in a call.
  struct Work {
    std::string text{};  // "pull(), called by worker/1"
    Duration age{};
  };
  std::optional<Work> work(NodeId node);

  // A client for someone outside the graph: a report, a test, the launcher's own code.
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
  internal::Membership* membership(const std::string& group, int size);
  std::unique_ptr<State> state_;
};

}  // namespace lp
