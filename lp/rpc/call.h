#pragma once
// A call on its way: at its callee (Call), and at a caller who waits for another process (Pending). The types of its
// parameters and result are forgotten here; typed_call.h knows them.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "lp/base/error.h"
#include "lp/rpc/frame.h"
#include "lp/rpc/future.h"
#include "lp/rpc/method.h"
#include "lp/rpc/turn.h"
#include "lp/wire/frames.h"

namespace lp::internal {

class Connection;
class Hub;
class Peer;
class Pending;

// Who calls, and under which number; equal for all attempts at one call.
struct Caller {
  static constexpr NodeId kOutside = ~NodeId{0};  // a report or a test: not a node of the program
  NodeId node = kOutside;
  std::uint32_t incarnation = 0;
  std::uint64_t sequence = 0;  // grows with each call; `once` methods only; 0: none

  // Numbers that the program gives begin here; they and lp's own grow apart from each other.
  static constexpr std::uint64_t kGiven = std::uint64_t{1} << 63;
  std::uint64_t key() const { return (std::uint64_t{node} << 1) | (sequence >= kGiven ? 1 : 0); }
};

// Where the reply of a call that came as bytes goes.
struct ReplyTo {
  std::shared_ptr<Connection> connection{};  // to another process: under this number
  std::uint64_t call = 0;
  Ref<StateBase> local{};  // within this process: keeps `pending` alive
  Pending* pending = nullptr;
};

// A call that came as bytes.
struct Incoming {
  Frames frames{};
  std::size_t offset = 0;  // where the arguments begin in the body
  CallScope scope{};
  Caller caller{};
  ReplyTo reply{};
};

// A call at its callee.
class Call : public Task {
 public:
  Call(const Method* method, const CallScope& scope, const Caller& caller)
      : Task(scope.chain), method_(method), scope_(scope), caller_(caller) {}

  const Method& method() const { return *method_; }
  const CallScope& scope() const { return scope_; }
  const Caller& caller() const { return caller_; }
  NodeCore* node() const { return node_; }
  void arrive(NodeCore& node, const Method& method) {
    node_ = &node;
    method_ = &method;
  }

  void run() noexcept final;
  void refuse(const Error& error) noexcept final;

  virtual bool wanted() const noexcept = 0;  // nobody has cancelled it
  virtual void prepare() = 0;                // decodes the arguments; throws
  virtual void invoke() = 0;                 // runs the handler and completes; throws what the handler throws
  virtual void fail_call(const Error& error) noexcept = 0;
  virtual void fail_lost() noexcept = 0;                  // its node ended while it ran
  virtual void answer(const Frames& reply) noexcept = 0;  // completes with a reply that was given before
  virtual void finish() noexcept = 0;                     // gives back the reference that its queue held

 protected:
  // Ends a call whose handler failed.
  void settle(const Error& error) noexcept;

  const Method* method_;
  NodeCore* node_ = nullptr;
  CallScope scope_;
  Caller caller_;
};

// A call to another process, at its caller, until its reply is there.
class Pending {
 public:
  Pending(Peer& peer, const MethodInfo& info, const CallScope& scope, const Caller& caller, bool one_way)
      : peer_(peer), info_(info), scope_(scope), caller_(caller), one_way_(one_way) {}
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;

  virtual StateBase& state() noexcept = 0;
  virtual void on_value(const Frames& frames, std::size_t offset) noexcept = 0;
  virtual void on_item(const Frames&, std::size_t) noexcept {}  // of a stream
  virtual void on_served(StateBase&) noexcept {}                // by this process: for who must reach it again
  void on_error(const Error& error) noexcept { state().fail(error); }

  Peer& peer() const { return peer_; }
  const MethodInfo& info() const { return info_; }
  const CallScope& scope() const { return scope_; }
  const Caller& caller() const { return caller_; }
  bool one_way() const { return one_way_; }
  bool retries() const { return info_.traits.idempotent || info_.traits.once; }

  // Bytes of the body that are left blank for the head.
  static std::size_t front(const CallPath& path);

  Frames frames{};                 // kept for another attempt
  std::size_t size = 0;            // of frames
  std::uint64_t call = 0;          // its number on the connection that carries it
  std::uint32_t incarnation = 0;   // of the callee that it goes to
  std::atomic<bool> sent = false;  // from now on it may have run

 protected:
  ~Pending() = default;

 private:
  Peer& peer_;
  const MethodInfo& info_;
  CallScope scope_;
  Caller caller_;
  bool one_way_;
};

// Lets the caller of a call that came as bytes cancel it.
void track_served(const ReplyTo& to, StateBase& call);

// Sends a reply: to the connection, or to the pending call of this process.
void send_value(const ReplyTo& to, Frames frames) noexcept;
void send_item(const ReplyTo& to, Frames frames) noexcept;
void send_error(const ReplyTo& to, const Error& error) noexcept;
// The node ended first: tells the caller's peer, which knows whether to try again. An Error without a node says this.
void send_lost(const ReplyTo& to, bool may_have_run) noexcept;

// The scope that code attached in `frame` runs with later.
CallScope scope_of_frame(const Frame& frame);

}  // namespace lp::internal
