#pragma once
// The objects that all nodes of a process share: threads, timers, and the way to every other node. Owned by a Runtime;
// thread-safe.

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/function.h"
#include "lp/base/scheduler.h"
#include "lp/rpc/core/budget.h"
#include "lp/rpc/core/future.h"
#include "lp/rpc/core/network.h"
#include "lp/rpc/core/peer.h"
#include "lp/rpc/core/run_settings.h"
#include "lp/rpc/observation/span_recorder.h"

namespace lp::rpc {

class LocalProcess {
 public:
  struct Options {
    RunSettings run{};
    ProcessSettings own{};
    std::uint64_t fingerprint = 0;     // fingerprint of the program
    std::vector<std::string> nodes{};  // names, by NodeId
    // Fails the nodes that are here. Any thread calls it.
    Function<void(const Error&)> fail{};
  };

  explicit LocalProcess(Options options);
  ~LocalProcess();
  LocalProcess(const LocalProcess&) = delete;
  LocalProcess& operator=(const LocalProcess&) = delete;

  const Options& options() const { return options_; }
  Pool& pool() { return pool_; }
  Timers& timers() { return timers_; }
  Peer& peer(NodeId node) { return peers_[node]; }
  std::size_t size() const { return peers_.size(); }
  const std::string& name(NodeId node) const;  // also for Caller::kOutside
  std::vector<std::string> names(const CallPath& path) const;

  // The bytes of the calls that queue at services of this process, and of those that wait to leave it.
  Budget& incoming() { return incoming_; }
  Budget& outgoing() { return outgoing_; }
  // The bytes of calls that a connection may have on their way before it asks.
  std::size_t window() const { return window_; }

  // Sets the way to nodes in other processes. Call it once, before any node starts. Null: there are none. The timers
  // have their thread from now on, because a thread that loses a connection sets some, and could not fail.
  void join(std::unique_ptr<Network> network);
  Network* network() const { return network_.get(); }

  // Counts connections that were refused: strangers, garbage, messages before the hello.
  void count_refusal() { refused_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t refused() const { return refused_.load(); }

  // Fails the nodes that are here, because a message for them was lost: there was no memory for it. Its caller would
  // wait for a reply.
  void lose_message(const Error& error) noexcept;
  // A connection to another process broke, though that process may live on.
  void broken(const Connection& connection) noexcept;

  SpanRecorder& spans() { return spans_; }

  // Notes that incarnations of this node that are older than this one may not call any more. Returns false when the
  // same was noted of this one.
  bool admit(NodeId caller, std::uint32_t incarnation) noexcept;

  // Returns how long a call may take: the caller's limit, else the method's, else the run's. 0 means that the caller
  // set none.
  Duration timeout(Duration given, const MethodInfo& info) const;

  // Notes that the run ends: from now on a call that its callee leaves without a reply is not lost, but ends with the
  // stop.
  void end_run() { run_ends_.store(true); }
  bool run_ends() const { return run_ends_.load(); }

  // The calls of this process to other processes, and those for nodes that are not up; at most `most`.
  std::vector<OpenCall> calls(std::size_t most);

  // Ends every waiting call with `stopped`.
  void close();

  // Leaves behind the threads that do not end.
  void abandon();

 private:
  // The members stand in this order so that threads end before the objects that they use.
  Options options_;
  const Bounds bounds_;
  const std::size_t window_;
  Budget incoming_;
  Budget outgoing_;
  std::deque<Peer> peers_;
  std::deque<std::atomic<std::uint32_t>> callers_;  // the newest incarnation of each node that has called
  std::atomic<std::uint64_t> refused_ = 0;
  std::atomic<bool> run_ends_ = false;
  SpanRecorder spans_;
  Pool pool_{"pool"};
  std::unique_ptr<Network> network_;
  Timers timers_;
};

}  // namespace lp::rpc
