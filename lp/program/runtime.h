#pragma once
// The part of a run that lives in one process: the services placed here, their threads, and the connections to all
// others. A launcher makes one Runtime for its own process (threads), or one in every child (processes). The supervisor
// controls it through these few calls and is notified through Observer. Thread-safe.

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
#include "lp/program/peer_state.h"
#include "lp/program/program.h"
#include "lp/rpc/client.h"
#include "lp/rpc/core/curve.h"
#include "lp/rpc/core/path.h"

namespace lp {

class Runtime {
 public:
  struct Options {
    std::string run{};                         // the run's name, for messages
    std::uint64_t seed = 0;                    // seed of the whole program
    std::shared_ptr<const Program> program{};  // kept as long as anything uses it
    std::filesystem::path directory{};         // run directory, which holds the checkpoints; empty: none are taken
    bool network = false;                      // listens, so that other processes can call nodes of this one
    Path path = Path::nearest;                 // path to other processes: nearest, shm or tcp
    std::string listen = "127.0.0.1";          // address of this process; beyond loopback only with keys
    CurveKeys keys{};           // keys of this process: calls by TCP are encrypted, and only known keys may call
    std::string outside_key{};  // public key of callers outside the graph
    // Bytes, of which waiting calls may take a part (lp/rpc/core/budget.h). 0: the machine's memory.
    std::size_t memory = 0;
    std::size_t shared_memory = 0;  // bytes that big arrays may share; 0: as much as the machine has memory
    std::string token{};            // secret of the run: other processes must present it
    bool serialize = false;         // local calls are encoded as bytes too (for tests)
    bool patient = false;           // a person is debugging: no deadline ends a call
    Duration deadline = std::chrono::seconds(60);  // default of calls, where neither the call nor the method sets one
    int keep_checkpoints = 3;                      // how many complete cuts are kept on disk
  };

  // Notifications of a node to its supervisor. Many threads call them; they must not block or throw.
  class Observer {
   public:
    virtual ~Observer() = default;
    virtual void on_ready(NodeId node, std::uint32_t incarnation) = 0;  // it is constructed and loaded, and serves
    // run() returned. `answers`: for each node that has answered this one.
    virtual void on_finished(NodeId node, std::uint32_t incarnation, const std::vector<LastAnswer>& answers) = 0;
    virtual void on_failed(NodeId node, std::uint32_t incarnation,
                           const Error& error) = 0;  // in the constructor, load, run or save
    virtual void on_stop_requested(NodeId node, const std::string& reason) = 0;  // Context::stop_program was called
    virtual void on_progress(NodeId node, const Progress& progress) = 0;
    // The node's part of the cut `step` is durable on disk. The supervisor must call may_save(), now or later.
    virtual void on_saved(NodeId node, std::uint64_t step) = 0;
    virtual void on_not_saved(NodeId node, std::uint64_t step,
                              const Error& error) = 0;  // a full disk, for instance: earlier cuts stay
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

  // Takes news of nodes elsewhere. Calls go to the newest incarnation; messages that an older one still sends are
  // refused.
  void update(std::span<const PeerState> peers);

  // Builds the node's service in a thread of its own and serves it; on_ready or on_failed follows. With `cut`, load()
  // receives the values that save() wrote at that step.
  void start(NodeId node, std::uint32_t incarnation, const std::filesystem::path& cut = {});
  // Begins run(), if the node has one; on_finished or on_failed follows. Call it once for each start, after on_ready.
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
  // Gives up a node that does not end. It keeps its thread and its memory, and its later notifications are ignored.
  void abandon(NodeId node);
  // Confirms that an on_saved was handled. The node's next save waits for that, so that cuts are not taken faster than
  // they are completed.
  void may_save(NodeId node);
  // Ends every call that waits, and every later one, with `stopped`. Nodes of this process stay as they are.
  void close();
  // Calls `alive` from the service's own turn. If the holder of the turn waits in a call of lp, which has a deadline,
  // it calls `alive` at once.
  void probe(NodeId node, Function<void()> alive);
  // The work that has the service's turn; nothing when the turn is free, or its holder waits in a call.
  struct Work {
    std::string text{};  // "pull(), called by worker/1"
    Duration age{};
  };
  std::optional<Work> work(NodeId node);

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
  internal::Membership* membership(const std::string& group, int size);
  std::unique_ptr<State> state_;
};

}  // namespace lp
