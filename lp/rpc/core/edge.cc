#include "lp/rpc/core/edge.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "lp/base/hash.h"
#include "lp/base/shared_heap.h"
#include "lp/base/text.h"
#include "lp/rpc/core/connection.h"

namespace lp {

std::uint64_t Edge::first_number(const rpc::LocalProcess& process, const rpc::ServiceInstance* caller) {
  // Each incarnation in each run counts in a range of its own. So a service does not take its calls for repetitions of
  // calls of others, also of those in a run that it was resumed from. An incarnation that is restored from a checkpoint
  // goes on in its old range.
  std::uint64_t life = fnv1a(process.options().run.name);
  if (caller != nullptr) life = hash_combine(hash_combine(life, caller->id()), caller->incarnation());
  return (mix64(life) >> 33 << 32) + 1;
}

rpc::Caller Edge::caller(const rpc::MethodInfo& info, std::uint64_t number) {
  rpc::Caller caller;
  if (caller_ != nullptr) {
    caller.node = caller_->id();
    caller.incarnation = caller_->incarnation();
  }
  if (info.traits.once) caller.sequence = number != 0 ? number : next_.fetch_add(1);
  return caller;
}

bool Edge::shares_memory() const {
  const auto connection = peer_.connection();
  return connection == nullptr || connection->link().shares_memory();
}

namespace rpc {
namespace {

// A call that runs on its caller's stack. Lives around the handler.
class DirectCall {
 public:
  DirectCall(const Edge& edge, const MethodInfo& info, Duration timeout) noexcept;
  ~DirectCall();
  DirectCall(const DirectCall&) = delete;
  DirectCall& operator=(const DirectCall&) = delete;

  // False: the call must queue.
  explicit operator bool() const { return method_ != nullptr; }

  // Runs the handler. Returns false when the service has ended in the middle, and the call must be made again in the
  // time that is left.
  bool invoke(void* arguments, void* slot);
  std::uint32_t callee() const { return node_->incarnation(); }
  // Ends its span.
  void end(bool failed) const noexcept;
  Duration left() const { return std::max(until(context_.deadline), CallOptions::kNoTime); }
  // Throws `deadline` when the call took too long.
  void check_deadline() const;

 private:
  ServiceInstance* node_;
  const Method* method_ = nullptr;
  Duration allowed_{};
  CallContext context_{};
  CallContext* caller_ = nullptr;
  BegunSpan span_{};
};

DirectCall::DirectCall(const Edge& edge, const MethodInfo& info, Duration timeout) noexcept
    : node_(edge.peer().local()) {
  if (node_ == nullptr || edge.process().options().run.serialize || timeout <= CallOptions::kNoTime) return;
  const Method* const method = node_->find(info.id);
  if (method == nullptr || !method->direct) return;
  caller_ = current_call_context();
  allowed_ = timeout;
  context_ = {.node = node_,
              .deadline = after(timeout),
              .chain = caller_ != nullptr && caller_->chain != 0 ? caller_->chain : new_chain(),
              .holds_turn = method->traits.in_turn(),
              .path = nullptr,
              .caller = caller_};
  const Time begin = context_.deadline == kNever ? about_now() : context_.deadline - timeout;  // no clock is read
  if (caller_ != nullptr) {
    if (caller_->deadline < context_.deadline) {
      allowed_ =
          context_.deadline == kNever ? until(caller_->deadline) : timeout - (context_.deadline - caller_->deadline);
      context_.deadline = caller_->deadline;
    }
    if (caller_->node->stopping()) return;  // the queued way reports that
  }
  if (context_.holds_turn) {
    if (!node_->turn().try_take(context_.chain)) return;
  } else {
    node_->began();
    ConcurrencyLimit* const gate = node_->gate(*method);
    if (node_->stopping() || (gate != nullptr && !gate->try_enter())) {
      node_->ended();
      return;
    }
  }
  method_ = method;
  span_ = begin_span(caller_, node_->process().spans());
  context_.span = span_.id;
  if (context_.holds_turn) {
    node_->turn().begin_work(method->name, caller_ != nullptr ? caller_->node->id() : WaitLink::kNobody, begin);
  }
  if (caller_ != nullptr && caller_->holds_turn) caller_->node->turn().begin_wait();
}

DirectCall::~DirectCall() {
  if (method_ == nullptr) return;
  if (caller_ != nullptr && caller_->holds_turn) caller_->node->turn().end_wait();
  if (context_.holds_turn) {
    node_->turn().release();
  } else {
    if (ConcurrencyLimit* const gate = node_->gate(*method_); gate != nullptr) {
      if (Task* next = gate->leave(); next != nullptr) {
        node_->began();
        node_->run_concurrently(*gate, next);
      }
    }
    node_->ended();
  }
}

bool DirectCall::invoke(void* arguments, void* slot) {
  const CallContextScope scope(context_);
  const bool again = method_->traits.idempotent && method_->arguments->copy != nullptr;
  try {
    if (again) {
      CopiedArguments copy(*method_->arguments, arguments);
      method_->invoke(node_->object(), copy.get(), slot);
    } else {
      method_->invoke(node_->object(), arguments, slot);
    }
    return true;
  } catch (...) {
    CallScope through;
    through.path = callers_of(context_);
    const Error error = node_->failure(*method_, through, std::current_exception());
    if (error.kind() != ErrorKind::stopped || !node_->stopping()) throw error;
    if (again) return false;
    throw node_->process().peer(node_->id()).lost_error(*method_, through);
  }
}

void DirectCall::end(bool failed) const noexcept {
  if (!span_) return;
  SpanRecord record = end_span(span_);
  record.chain = context_.chain;
  record.node = caller_ == nullptr ? Caller::kOutside : caller_->node->id();
  record.other = node_->id();
  record.kind = SpanRecord::Kind::direct;
  record.failed = failed;
  record.set_name(method_->name);
  node_->process().spans().record(record);
}

void DirectCall::check_deadline() const {
  if (!passed(context_.deadline)) return;
  throw Error(ErrorKind::deadline,
              "the reply came too late: the call took " + duration_text(allowed_ + (now() - context_.deadline)) +
                  " and was allowed " + duration_text(allowed_),
              {.node = node_->name(), .method = std::string(method_->name), .may_have_run = true});
}

}  // namespace

Outgoing outgoing_call(Edge& edge, const MethodInfo& info, const CallOptions& options) {
  const CallContext* const context = current_call_context();
  CallScope scope = scope_for_call(context, edge.process().timeout(options.timeout, info));
  scope.span = begin_span(context, edge.process().spans());
  return {.peer = edge.peer(),
          .info = info,
          .scope = scope,
          .caller = edge.caller(info, options.number),
          .counters = &edge.counters().of(info),
          .may_have_run = options.may_have_run};
}

namespace {

// run(), and code outside the graph, may wait. A handler may not: the calls before this one may wait for that handler.
bool may_wait(const CallOptions& options) {
  const CallContext* const context = current_call_context();
  return !options.at_once && (context == nullptr || (context->chain == 0 && !context->holds_turn));
}

Error overloaded(const Outgoing& call) {
  return Error(ErrorKind::overloaded,
               "there is no room for this call, because too many bytes wait already: wait for replies, or call from "
               "run(), where a call waits for room",
               {.node = call.peer.process().name(call.peer.id()), .method = std::string(call.info.name)});
}

// Returns the room, or ends the call if there is none.
Budget::Share room_or_overloaded(Budget::Share room, const Outgoing& outgoing, StateBase& call) {
  if (!room) call.fail(overloaded(outgoing));
  return room;
}

// Waits for room in the queue of a service of this process until the call's deadline.
Budget::Share wait_for_room(const Outgoing& outgoing, std::size_t bytes) {
  Peer& peer = outgoing.peer;
  Promise<Budget::Share> promise;
  Future<Budget::Share> granted = promise.future();
  peer.process().incoming().ask(peer.queue(), bytes, [promise = std::move(promise)](Budget::Share room) mutable {
    promise.set_value(std::move(room));
  });
  if (!granted.wait_for(until(outgoing.scope.deadline))) {
    throw Error(peer.late_error(outgoing.info, outgoing.scope, /*may_have_run=*/false));
  }
  return granted.get();
}

// Takes room in the queue of a service of this process, or ends the call. Throws the error with which a wait for room
// ended.
Budget::Share room_here(const Outgoing& outgoing, const CallOptions& options, std::size_t bytes, StateBase& call) {
  Budget::Share room = outgoing.peer.process().incoming().take(outgoing.peer.queue(), bytes);
  if (room || !may_wait(options)) return room_or_overloaded(std::move(room), outgoing, call);
  try {
    return wait_for_room(outgoing, bytes);
  } catch (const Error& error) {
    call.fail(error);
    throw;
  }
}

void wait_to_leave(ClientCall& call) {
  if (call.on_its_way()) return;
  const SharedHeap::Sparing sparing;  // the caller is ahead of the service
  call.wait_on_its_way();
}

// Is ready when nobody needs the arrays of this message any more that are in this process's memory.
Future<void> watch_arrays(Message& message) {
  auto gone = std::shared_ptr<Promise<void>>(new Promise<void>(), [](Promise<void>* promise) {
    promise->set_value();
    delete promise;
  });
  Future<void> future = gone->future();
  for (Buffer& array : message.arrays) {
    if (array.elsewhere() != nullptr) continue;  // it takes none of that memory
    const std::byte* const data = array.data();
    const std::size_t size = array.size();
    array = Buffer::wrap(data, size, [held = std::move(array), gone]() mutable {
      held = {};
      gone.reset();
    });
  }
  return future;
}

// Who had to wait for room is ahead of the service. If it made the next array before the memory of this one is free
// again, it would soon have the memory of both, for no use. But the service may keep this one: then it waits for as
// long again.
void fall_back(Future<void>& arrays_gone, Duration waited) {
  try {
    static_cast<void>(arrays_gone.wait_for(waited));
  } catch (const Error&) {
    // The node is to stop; the call is on its way all the same.
  }
}

}  // namespace

bool start_here(Ref<ServerCall> call, const Outgoing& outgoing, const CallOptions& options) {
  const std::size_t bytes = options.awaited ? 0 : outgoing.info.arguments->bytes(call->arguments());
  if (bytes >= Budget::kSmall) {
    Budget::Share share = room_here(outgoing, options, bytes, *call);
    if (!share) return false;
    call->room = std::make_unique<Room>(std::move(share));
  }
  outgoing.peer.accept_local(*call.take(), outgoing.info);
  return true;
}

void start_as_bytes(ClientCall& call, const Outgoing& outgoing, const CallOptions& options) {
  Peer& peer = outgoing.peer;
  const std::size_t bytes = call.message.size();
  const bool counts = bytes >= Budget::kSmall && !options.awaited;
  const bool stays_here = !is_elsewhere(peer);
  const bool waits = counts && !stays_here && may_wait(options);
  call.awaited = options.awaited;
  if (counts && !waits) {
    call.leaving = stays_here
                       ? room_here(outgoing, options, bytes, call)
                       : room_or_overloaded(peer.process().outgoing().take(peer.leaving(), bytes), outgoing, call);
    if (!call.leaving) return;
  }
  Future<void> arrays_gone;
  if (waits && bytes > peer.process().window()) arrays_gone = watch_arrays(call.message);
  call.retain();
  peer.send(call);
  if (!waits) return;
  const Time begin = now();
  try {
    wait_to_leave(call);
  } catch (const Error& error) {
    call.cancel(error);
    throw call.sent.load() ? with_may_have_run(error) : error;
  }
  if (arrays_gone.valid()) fall_back(arrays_gone, now() - begin);
}

Ref<StateBase> start_call(Edge& edge, const MethodInfo& info, const CallOptions& options, void* arguments) {
  const Outgoing outgoing = outgoing_call(edge, info, options);
  if (edge.goes_as_bytes()) {
    Ref<ClientCall> call(info.result->pending(outgoing, /*one_way=*/false));
    call->encode(arguments);
    start_as_bytes(*call, outgoing, options);
    return Ref<StateBase>(call.take());
  }
  Ref<ServerCall> call(info.result->call(outgoing, arguments));
  Ref<StateBase> state = Ref<StateBase>::share(call.get());
  start_here(std::move(call), outgoing, options);
  return state;
}

bool call_directly(Edge& edge, const MethodInfo& info, CallOptions& options, void* arguments, void* slot) {
  DirectCall direct(edge, info, edge.process().timeout(options.timeout, info));
  if (!direct) return false;
  CallTimer counted(&edge.counters().of(info));
  bool done = false;
  try {
    done = direct.invoke(arguments, slot);
  } catch (...) {
    counted.end(/*failed=*/true, /*callee=*/0);
    direct.end(/*failed=*/true);
    throw;
  }
  counted.end(/*failed=*/!done, direct.callee());
  direct.end(/*failed=*/!done);
  if (done) {
    direct.check_deadline();
  } else {
    options.timeout = direct.left();
    options.may_have_run = true;
  }
  return done;
}

void send_call(Edge& edge, const MethodInfo& info, const CallOptions& options, void* arguments) {
  const Outgoing outgoing = outgoing_call(edge, info, options);
  if (!edge.goes_as_bytes()) {
    if (!start_here(Ref<ServerCall>(info.result->call(outgoing, arguments)), outgoing, options))
      throw overloaded(outgoing);
    return;
  }
  const Ref<ClientCall> call(info.result->pending(outgoing, /*one_way=*/true));
  call->encode(arguments);
  start_as_bytes(*call, outgoing, options);
  if (call->ready() && call->failed() && call->error().kind() != ErrorKind::stopped) throw Error(call->error());
}

}  // namespace rpc
}  // namespace lp
