#pragma once
// An edge of the running program: from one node (or from outside) to another. Clients are views of it. Owned by the
// calling node's part of the Runtime; thread-safe.

#include <atomic>
#include <cstdint>

#include "lp/rpc/core/call.h"
#include "lp/rpc/core/call_context.h"
#include "lp/rpc/core/local_process.h"
#include "lp/rpc/core/peer.h"
#include "lp/rpc/core/published.h"
#include "lp/rpc/core/service_instance.h"

namespace lp {
namespace rpc {

// Whether calls to this node leave the process now.
inline bool is_elsewhere(const Peer& peer) { return peer.process().network() != nullptr && peer.local() == nullptr; }

}  // namespace rpc

class Edge {
 public:
  // `caller` is null for someone outside the graph.
  Edge(rpc::LocalProcess& process, rpc::ServiceInstance* caller, NodeId callee)
      : process_(process), caller_(caller), peer_(process.peer(callee)), next_(first_number(process, caller)) {}

  rpc::LocalProcess& process() const { return process_; }
  rpc::Peer& peer() const { return peer_; }

  // Whether a call leaves this process, or pretends to.
  bool goes_as_bytes() const { return process_.options().run.serialize || rpc::is_elsewhere(peer_); }

  // Returns the caller of `info`. Each call of a `once` method has a number of its own; `number` is one that the
  // program gave.
  rpc::Caller caller(const rpc::MethodInfo& info, std::uint64_t number);

  // The versions that this edge's clients have read of the callee's published values.
  rpc::VersionCache& versions() { return versions_; }
  rpc::EdgeCounters& counters() { return counters_; }
  const rpc::EdgeCounters& counters() const { return counters_; }
  // Whether big arrays come from the callee without a copy.
  bool shares_memory() const;

  // The number of the next call. It is part of the caller's checkpoint, so that a repeated call has the same number.
  std::uint64_t next_number() const { return next_.load(); }
  void set_next_number(std::uint64_t number) { next_.store(number); }

 private:
  static std::uint64_t first_number(const rpc::LocalProcess& process, const rpc::ServiceInstance* caller);

  rpc::LocalProcess& process_;
  rpc::ServiceInstance* const caller_;
  rpc::Peer& peer_;
  std::atomic<std::uint64_t> next_;
  rpc::VersionCache versions_;
  rpc::EdgeCounters counters_;
};

namespace rpc {

// The options that a client sets for its calls.
struct CallOptions {
  static constexpr Duration kNoTime{1};

  Duration timeout{};         // 0: the method's or the run's timeout
  std::uint64_t number = 0;   // number of a `once` call; 0: the next number
  bool awaited = false;       // its maker does nothing else until the reply is there
  bool at_once = false;       // the call does not wait for room
  bool may_have_run = false;  // an earlier attempt may have run
};

// Returns a call that `edge` makes now.
Outgoing outgoing_call(Edge& edge, const MethodInfo& info, const CallOptions& options);

// Queues a call at a service of this process. Takes over one reference. If there is no room for the arguments, it waits
// for room if it may, and throws the Error with which that ended; otherwise the call ends with `overloaded`, and this
// returns false.
bool start_here(Ref<ServerCall> call, const Outgoing& outgoing, const CallOptions& options);
// Hands an encoded call over, and waits until it is on its way if it may wait.
void start_as_bytes(ClientCall& call, const Outgoing& outgoing, const CallOptions& options);

// Three ways to make a call, with the Arguments of the method. They throw Error.
//
// Starts the call; it queues or travels. Moves the arguments out. A call of 1 KiB or more may find no room. Then this
// waits for room; in a handler, or with `at_once`, it returns a call that ended with `overloaded`.
Ref<StateBase> start_call(Edge& edge, const MethodInfo& info, const CallOptions& options, void* arguments);
// Makes the call on this stack, if the service is here and idle, with the result in `slot`. Returns false when the call
// must be started: the arguments are unchanged, and `options` is updated.
bool call_directly(Edge& edge, const MethodInfo& info, CallOptions& options, void* arguments, void* slot);
// Starts the call without a reply. Throws `overloaded`, too.
void send_call(Edge& edge, const MethodInfo& info, const CallOptions& options, void* arguments);

}  // namespace rpc
}  // namespace lp
