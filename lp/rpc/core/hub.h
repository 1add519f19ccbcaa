#pragma once
// What all nodes of a process share: threads, timers, and the way to every other node. Owned by a Runtime; thread-safe.

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/scheduler.h"
#include "lp/rpc/core/budget.h"
#include "lp/rpc/core/curve.h"
#include "lp/rpc/core/future.h"
#include "lp/rpc/core/network.h"
#include "lp/rpc/core/path.h"
#include "lp/rpc/core/peer.h"

namespace lp::internal {

class Hub {
 public:
  struct Options {
    std::string run{};              // for messages
    std::string token{};            // secret of the run
    std::uint64_t fingerprint = 0;  // of the program
    Duration deadline = std::chrono::seconds(60);
    bool patient = false;              // no deadline ends a call
    bool serialize = false;            // local calls go through bytes
    Path path = Path::nearest;         // to those
    std::string listen = "127.0.0.1";  // address of this process, for TCP
    CurveKeys keys{};                  // of this process; empty: only loopback, and without encryption
    std::string outside_key{};         // public key of who calls from outside the graph
    std::size_t shared_memory = 0;     // bytes for big arrays, at most; 0: as much as the machine has memory
    std::size_t memory = 0;            // bytes, of which calls may have a part (budget.h); 0: the machine's
    std::vector<std::string> nodes{};  // names, by NodeId
  };

  explicit Hub(Options options);
  ~Hub();
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;

  const Options& options() const { return options_; }
  Pool& pool() { return pool_; }
  Timers& timers() { return timers_; }
  Peer& peer(NodeId node) { return peers_[node]; }
  std::size_t size() const { return peers_.size(); }
  const std::string& name(NodeId node) const;  // also of Caller::kOutside
  std::vector<std::string> names(const CallPath& path) const;

  // Bytes of the calls that queue at services of this process, and of those that wait to leave it.
  Budget& incoming() { return incoming_; }
  Budget& outgoing() { return outgoing_; }
  // Bytes of calls that a connection may have on their way before it asks.
  std::size_t window() const { return window_; }

  // The way to nodes in other processes; to be called once, before any node starts. Null: there are none.
  void join(std::unique_ptr<Network> network) { network_ = std::move(network); }
  Network* network() { return network_.get(); }

  // Connections that were refused: strangers, garbage, messages before the hello.
  void count_refusal() { refused_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t refused() const { return refused_.load(); }

  // Notes that there is this incarnation of a node. False when there is a newer one already: the older one is fenced.
  bool admit(NodeId caller, std::uint32_t incarnation) noexcept;

  // How long a call may take: what the caller says, else the method, else the run. 0 stands for unsaid.
  Duration timeout(Duration said, const MethodInfo& info) const;

  // A call that its callee leaves without a reply is from now on not lost, but ends with the stop.
  void end_run() { run_ends_.store(true); }
  bool run_ends() const { return run_ends_.load(); }

  // Ends every call that waits, with `stopped`.
  void close();

  // Leaves the threads that do not end behind.
  void abandon();

 private:
  // In this order, so that threads end before what they use.
  Options options_;
  const Bounds bounds_;
  const std::size_t window_;
  Budget incoming_;
  Budget outgoing_;
  std::deque<Peer> peers_;
  std::deque<std::atomic<std::uint32_t>> callers_;  // the newest incarnation of each node that has called
  std::atomic<std::uint64_t> refused_ = 0;
  std::atomic<bool> run_ends_ = false;
  Pool pool_{"pool"};
  std::unique_ptr<Network> network_;
  Timers timers_;
};

}  // namespace lp::internal
