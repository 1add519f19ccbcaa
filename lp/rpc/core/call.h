#pragma once
// A call on its way: at its callee (ServerCall), and at a caller that waits for another process (ClientCall). The types
// of its arguments and result are erased here, so that this code exists once; typed_call.h knows them.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "lp/base/error.h"
#include "lp/rpc/core/budget.h"
#include "lp/rpc/core/call_context.h"
#include "lp/rpc/core/counters.h"
#include "lp/rpc/core/future.h"
#include "lp/rpc/core/method.h"
#include "lp/rpc/core/turn.h"
#include "lp/wire/message.h"

namespace lp::rpc {

class Connection;
class LocalProcess;
class Peer;
class ClientCall;

// The caller and the number of its call. It is equal for all attempts at one call.
struct Caller {
  static constexpr NodeId kOutside = ~NodeId{0};  // a report or a test: not a node of the program
  NodeId node = kOutside;
  std::uint32_t incarnation = 0;
  std::uint64_t sequence = 0;  // grows with each call; `once` methods only; 0: none

  // Numbers that the program gives begin here. lp's own number is a count in a range: 31 bits are the range, 32 bits
  // count.
  static constexpr std::uint64_t kGiven = std::uint64_t{1} << 63;
  // A key for numbers that grow from call to call: the program's for this node, or one range of lp's.
  std::uint64_t key() const {
    const std::uint64_t range = sequence >= kGiven ? kGiven >> 32 : sequence >> 32;
    return (std::uint64_t{node} << 32) | range;
  }
};

// The destination of the reply of a call that came as bytes.
struct ReplyTo {
  std::shared_ptr<Connection> connection{};  // reply to another process, under the number `call`
  std::uint64_t call = 0;
  Ref<ClientCall> pending{};  // reply within this process
};

// The room that a call has at its callee until it begins. When this object is destroyed, other calls get the room.
class Room {
 public:
  explicit Room(Budget::Share share) : share_(std::move(share)) {}
  // For a one-way call that did not ask: its sender is notified.
  Room(std::shared_ptr<Connection> sender, std::size_t bytes) : sender_(std::move(sender)), bytes_(bytes) {}
  ~Room();
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

 private:
  Budget::Share share_{};
  std::shared_ptr<Connection> sender_{};
  std::size_t bytes_ = 0;
};

// A call that came as bytes.
struct Incoming {
  Message message{};
  std::size_t offset = 0;  // offset of the arguments in the body
  CallScope scope{};
  Caller caller{};
  ReplyTo reply{};
  std::unique_ptr<Room> room{};
};

// Why a connection lost a call: its node ended, or the connection broke while the node may live on.
enum class Loss : std::uint8_t { node_ended, broken };

// A call that this process makes.
struct Outgoing {
  Peer& peer;
  const MethodInfo& info;
  CallScope scope{};
  Caller caller{};
  CallCounters* counters = nullptr;
  bool may_have_run = false;  // an earlier attempt may have run
};

// The operations on a result of one type in the slot of a state, and factories of calls that have such a slot.
struct ResultOps {
  // Leaves reply_front() blank bytes. `receiver` may be null: it is not known.
  void (*encode)(StateBase& state, Message& out, const MessageReceiver* receiver);
  void (*decode)(StateBase& state, const Message& message, std::size_t offset);  // throws Error
  void (*move)(StateBase& from, StateBase& to);
  ServerCall* (*call)(const Outgoing& call, void* arguments);  // moves the arguments out of `arguments`
  ServerCall* (*receive)(ServiceInstance& node, const Method& method, Incoming&& message);
  ClientCall* (*pending)(const Outgoing& call, bool one_way);
};

// Ends a state at its deadline when no thread waits for it. Part of the state.
class DeadlineTimer {
 public:
  void watch(LocalProcess& process, StateBase& state, Time deadline);
  void cancel(LocalProcess& process) noexcept;

 private:
  std::atomic<Timers::Id> id_ = 0;
};

// A call at its callee: arguments, result and place in the queue in one object. The arguments lie behind the rest of
// it, at `end`. The call came from this process, with its arguments, or as bytes.
class ServerCall : public StateBase, public Task {
 public:
  ServerCall(const ResultOps& result, const Outgoing& call, void* arguments, void* end);
  ServerCall(const ResultOps& result, ServiceInstance& node, const Method& method, Incoming&& message, void* end);
  ~ServerCall() override;

  // new (*method.arguments) SomeCall(...)
  static void* operator new(std::size_t size, const ArgumentsOps& arguments);
  static void operator delete(void* call, const ArgumentsOps&) { ServerCall::operator delete(call); }
  static void operator delete(void* call) noexcept;

  const Method& method() const { return *method_; }
  const CallScope& scope() const { return scope_; }
  const Caller& caller() const { return caller_; }
  const ReplyTo& reply() const { return reply_; }
  std::uint64_t order = 0;  // position among the calls of this process to its callee; for calls from this process
  std::unique_ptr<Room> room{};
  ServiceInstance& node() const { return *node_; }
  void arrive(ServiceInstance& node, const Method& method) {
    node_ = &node;
    method_ = &method;
    arrived_.store(true);
    note_arrival();
  }

  void run() noexcept final;
  void refuse(const Error& error) noexcept final;
  bool move_on() noexcept final;

  bool wanted() const noexcept { return !claimed(); }  // nobody has cancelled it
  // Whether it is a stream that waits until its reader takes items.
  virtual bool paused() const noexcept { return false; }
  // Returns false when the call repeats a `once` call: then the service's table keeps it, and answers it.
  bool begin_once();
  // Decodes the arguments, if they came as bytes. Throws Error.
  void prepare();
  void* arguments() { return arguments_; }
  // Whether another attempt may need the arguments: then a handler gets a copy.
  bool keeps_arguments() const {
    return !came_as_bytes() && (info_->traits.idempotent || info_->traits.once) && ops().copy != nullptr;
  }
  // Return the number of the call's span, for code that it causes, and note that its handler begins and has returned.
  std::uint64_t note_begin() noexcept;
  void note_return() noexcept;
  // Completes the call with the result in the slot.
  void done() noexcept;
  // Ends a call whose handler failed.
  void settle(const Error& error) noexcept;
  // Completes the call as an earlier attempt at it was completed.
  void answer(const Message& reply) noexcept;

 protected:
  void run_now() noexcept;
  virtual void invoke();  // runs the handler and completes the call; throws the handler's exception
  void drop_arguments() noexcept;

  Time deadline() const noexcept override { return came_as_bytes() ? kNever : scope_.deadline; }
  Error late() const override;
  std::optional<CallName> call_name() const override;
  bool is_call() const noexcept override { return !came_as_bytes(); }
  void add_obstacles(WaitChain& all) const override;
  bool may_have_run() const noexcept override { return ran_ || arrived_.load(); }
  void watch_deadline() override;
  void count() noexcept override;
  void completed() noexcept override;

 private:
  void note_arrival() noexcept;
  void record_handler() noexcept;
  const ArgumentsOps& ops() const { return *(came_as_bytes() ? method_ : info_)->arguments; }
  bool came_as_bytes() const { return peer_ == nullptr; }
  std::uint32_t answerer() const noexcept;
  bool counts_once() const { return method_->traits.once && caller_.sequence != 0; }
  // Completes the call as `from` does, when `from` is ready.
  void follow(const Ref<StateBase>& from);
  void fail_lost() noexcept;
  void end_lost(bool began, const char* text) noexcept;

  const ResultOps& result_;
  void* arguments_;
  bool has_arguments_ = false;
  const Method* method_ = nullptr;
  ServiceInstance* node_ = nullptr;
  CallScope scope_;
  Caller caller_;
  // For a call from this process:
  Peer* peer_ = nullptr;
  const MethodInfo* info_ = nullptr;
  std::atomic<bool> ran_ = false;      // an earlier attempt may have run
  std::atomic<bool> arrived_ = false;  // the call is at its callee
  DeadlineTimer timer_;
  CallTimer counted_{nullptr};
  // For a call that came as bytes:
  Message message_;
  std::size_t offset_ = 0;
  ReplyTo reply_;
  bool lost_ = false;   // the node ended first
  bool began_ = false;  // the handler has begun
  // If its span is recorded and it has arrived: the record of its handler, until the call is destroyed.
  std::unique_ptr<SpanRecord> handled_;
  // In the list of its node, if its handler has returned and its result is still to come:
  friend class ServiceInstance;
  ServerCall* next_open_ = nullptr;
  ServerCall** open_place_ = nullptr;
};

// A call to another process, at its caller, until its reply is there.
class ClientCall : public StateBase {
 public:
  ClientCall(const ResultOps& result, const Outgoing& outgoing, bool one_way)
      : counted(outgoing.counters),
        result_(result),
        peer_(outgoing.peer),
        info_(outgoing.info),
        caller_(outgoing.caller),
        one_way_(one_way),
        ran_(outgoing.may_have_run),
        recorded_(static_cast<bool>(outgoing.scope.span)),
        scope_(outgoing.scope) {}

  virtual void on_value(const Message& reply, std::size_t offset) noexcept;
  virtual void on_item(const Message&, std::size_t) noexcept {}  // an item of a stream
  virtual void on_served(StateBase& served) noexcept;            // this process serves the call
  void on_error(const Error& error) noexcept { fail(ran_ ? with_may_have_run(error) : error); }
  // Ends a call without a reply, which is on its way.
  void end_one_way() noexcept { fail(Error(ErrorKind::stopped, "it was sent one way")); }
  // Notes that an attempt was lost in the middle.
  void ran() noexcept { ran_ = true; }

  Peer& peer() const { return peer_; }
  const MethodInfo& info() const { return info_; }
  const CallScope& scope() const { return scope_; }
  const Caller& caller() const { return caller_; }
  bool one_way() const { return one_way_; }
  bool retries() const { return info_.traits.idempotent || info_.traits.once; }

  void encode(const void* arguments);  // encodes into `message`
  // Notes that the call is held here. Its maker need not wait for that, if there is room among the calls that wait to
  // leave.
  void wait_here(Budget& outgoing, Budget::Account& account);
  // Notes that the call is on its way.
  void leave();
  bool on_its_way() const noexcept override { return sent.load() || waits_here_.load(); }

  // The bytes of the body that are left blank for the head.
  static std::size_t front(const CallPath& path);

  CallTimer counted;
  Message message{};                 // kept for another attempt
  std::size_t size = 0;              // size of `message`
  std::uint64_t call = 0;            // number on the connection that carries the call
  std::uint64_t order = 0;           // position among the calls of this process to its callee
  std::uint32_t incarnation = 0;     // incarnation of the callee that the call goes to
  std::atomic<bool> sent = false;    // from now on it may have run
  std::atomic<bool> wanted = false;  // a reply is wanted at once, and no thread reads for it
  bool expected = false;             // the connection that carries the call knows that
  bool in_window = false;            // the call counts in the window of that connection
  int broken = 0;                    // connections that broke while it was at its callee
  bool delayed = false;              // its maker may wait until it is on its way
  bool awaited = false;              // its maker does nothing else until the reply is there

 protected:
  Time deadline() const noexcept override { return scope_.deadline; }
  std::shared_ptr<Connection> carrier() const override;
  void want() noexcept override;
  Error late() const override;
  std::optional<CallName> call_name() const override;
  bool is_call() const noexcept override { return true; }
  void inquire() override;
  void add_obstacles(WaitChain& all) const override;
  bool may_have_run() const noexcept override { return ran_ || sent.load(); }
  void watch_deadline() override;
  void count() noexcept override;
  void completed() noexcept override;
  void cancelled() noexcept override;

 private:
  const ResultOps& result_;
  Peer& peer_;
  std::atomic<StateBase*> served_ = nullptr;  // the call at its callee, if that is in this process; owns a reference
  DeadlineTimer timer_;
  // Members that a reply does not need come last, so that a reply does not fetch them into the cache.
  const MethodInfo& info_;
  Caller caller_;
  bool one_way_;
  std::atomic<bool> ran_;  // an earlier attempt may have run
  const bool recorded_;    // its span is
  CallScope scope_;
  std::atomic<bool> waits_here_ = false;  // the call has `leaving`

 public:
  Budget::Share leaving{};  // room that it has until it leaves, or begins in this process

 private:
  Ref<StateBase> take_served() noexcept { return Ref<StateBase>(served_.exchange(nullptr)); }
  void cancel_served() noexcept;
};

// Lets the caller of a call that came as bytes cancel it.
void track_served(const ReplyTo& to, StateBase& call);

// Null where it is not another process.
const MessageReceiver* receiver_of(const ReplyTo& to) noexcept;

// Sends a reply: to the connection, or to the pending call of this process.
void send_value(const ReplyTo& to, Message message) noexcept;
void send_item(const ReplyTo& to, Message message) noexcept;
void send_error(const ReplyTo& to, const Error& error) noexcept;
// Notifies the caller's peer that the node ended first: the peer knows whether to try again. An Error without a node
// means this.
void send_lost(const ReplyTo& to, bool may_have_run) noexcept;

// Returns the scope with which code that was attached in `context` runs later.
CallScope scope_of_context(const CallContext& context);

}  // namespace lp::rpc
