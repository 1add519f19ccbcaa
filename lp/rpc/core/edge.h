#pragma once
// An edge of the running program: from one node (or from outside) to another. Clients are views of it. Owned by the
// calling node's part of the Runtime; thread-safe.

#include <atomic>
#include <cstdint>

#include "lp/rpc/core/call.h"
#include "lp/rpc/core/frame.h"
#include "lp/rpc/core/hub.h"
#include "lp/rpc/core/node_core.h"
#include "lp/rpc/core/peer.h"
#include "lp/rpc/core/published.h"

namespace lp {

class Edge {
 public:
  // `caller` is null for someone outside the graph.
  Edge(internal::Hub& hub, internal::NodeCore* caller, NodeId callee)
      : hub_(hub), caller_(caller), peer_(hub.peer(callee)), next_(first_number(hub, caller)) {}

  internal::Hub& hub() const { return hub_; }
  internal::Peer& peer() const { return peer_; }

  // Whether a call leaves this process, or pretends to.
  bool goes_as_bytes() const {
    const internal::Hub::Options& options = hub_.options();
    return options.serialize || (hub_.network() != nullptr && peer_.local() == nullptr);
  }

  // Who calls `info` now. Each call of a `once` method has a number of its own; `number` is one that the program gave.
  internal::Caller caller(const internal::MethodInfo& info, std::uint64_t number);

  // What this edge's clients have read of what the callee publishes.
  internal::VersionCache& versions() { return versions_; }
  internal::EdgeCounters& counters() { return counters_; }
  const internal::EdgeCounters& counters() const { return counters_; }
  // Whether big arrays come from the callee without a copy.
  bool shares_memory() const;

  // The number of the next call: part of the caller's checkpoint, so that what is done again has the same number.
  std::uint64_t next_number() const { return next_.load(); }
  void set_next_number(std::uint64_t number) { next_.store(number); }

 private:
  static std::uint64_t first_number(const internal::Hub& hub, const internal::NodeCore* caller);

  internal::Hub& hub_;
  internal::NodeCore* const caller_;
  internal::Peer& peer_;
  std::atomic<std::uint64_t> next_;
  internal::VersionCache versions_;
  internal::EdgeCounters counters_;
};

namespace internal {

// What a client says of its calls.
struct CallOptions {
  static constexpr Duration kNoTime{1};

  Duration timeout{};         // 0: as the method or the run says
  std::uint64_t number = 0;   // of a `once` call; 0: the next
  bool awaited = false;       // its maker does nothing else until the reply is there
  bool at_once = false;       // it does not wait for room
  bool may_have_run = false;  // at an earlier attempt
};

// A call that `edge` makes now.
Outgoing outgoing_call(Edge& edge, const MethodInfo& info, const CallOptions& options);

// Hands a call that is encoded over, and waits until it is on its way where it may.
void start_as_bytes(Pending& call, const Outgoing& outgoing, const CallOptions& options);

// Three ways to make one, with the Arguments of the method. They throw Error.
//
// Starts it; it queues or travels. Moves the arguments out. Where calls of 1 KiB and more have no room, it waits for
// that, in a handler and when told so it is a call that ended with `overloaded`.
Ref<StateBase> start_call(Edge& edge, const MethodInfo& info, const CallOptions& options, void* arguments);
// Makes it on this stack, if the service is here and idle, with the result in `slot`. False: it must be started, with
// the arguments as they were, and with what is now in `options`.
bool call_directly(Edge& edge, const MethodInfo& info, CallOptions& options, void* arguments, void* slot);
// Starts it, and nobody wants its reply. Throws `overloaded`, too.
void send_call(Edge& edge, const MethodInfo& info, const CallOptions& options, void* arguments);

}  // namespace internal
}  // namespace lp
