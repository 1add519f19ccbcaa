#include "lp/rpc/core/call.h"

#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "lp/base/text.h"
#include "lp/rpc/core/connection.h"
#include "lp/rpc/core/local_process.h"
#include "lp/rpc/core/peer.h"
#include "lp/rpc/core/service_instance.h"
#include "lp/wire/envelope.h"
#include "lp/wire/reader.h"
#include "lp/wire/writer.h"

namespace lp::rpc {

namespace {

// The time to a deadline for which the clock is read a second time, more exactly.
constexpr Duration kNear = std::chrono::seconds(1);

// At its deadline; `why` it has no reply.
Error late_after(const Error& error, Duration allowed, const std::string& why) {
  return Error(error.kind(), error.text() + ": the call was allowed " + duration_text(allowed) + why, error.origin());
}

// Records the span of a call at its caller, where it ends now.
void record_call(Peer& peer, const CallScope& scope, const Caller& caller, std::string_view method,
                 SpanRecord::Kind kind, bool failed) noexcept {
  SpanRecord record = end_span(scope.span);
  record.chain = scope.chain;
  record.node = caller.node;
  record.other = peer.id();
  record.kind = kind;
  record.failed = failed;
  record.set_name(method);
  peer.process().spans().record(record);
}

// The process where the callee is now.
class PeerReceiver final : public MessageReceiver {
 public:
  explicit PeerReceiver(const Peer& peer) : peer_(peer) {}
  bool opens(std::uint64_t place) const override {
    const std::shared_ptr<Connection> connection = peer_.connection();
    return connection != nullptr && connection->opens(place);
  }

 private:
  const Peer& peer_;
};

// What keeps the node, when it is here, from its calls.
void add_obstacles_here(const Peer& peer, WaitChain& all) {
  if (const ServiceInstance* const node = peer.local(); node != nullptr) add_wait_chain(*node, all);
}

}  // namespace

void DeadlineTimer::watch(LocalProcess& process, StateBase& state, Time deadline) {
  if (deadline == kNever || id_.load() != 0) return;
  id_ = process.timers().at(deadline, [held = Ref<StateBase>::share(&state)] { held->expire(); });
  if (state.ready()) cancel(process);
}

void DeadlineTimer::cancel(LocalProcess& process) noexcept {
  if (const Timers::Id id = id_.exchange(0); id != 0) process.timers().cancel(id);
}

ServerCall::ServerCall(const ResultOps& result, const Outgoing& call, void* arguments, void* end)
    : Task(call.scope.chain),
      result_(result),
      arguments_(aligned(end, call.info.arguments->alignment)),
      scope_(call.scope),
      caller_(call.caller),
      peer_(&call.peer),
      info_(&call.info),
      ran_(call.may_have_run),
      counted_(call.counters) {
  ops().move(arguments_, arguments);
  has_arguments_ = true;
}

ServerCall::ServerCall(const ResultOps& result, ServiceInstance& node, const Method& method, Incoming&& message,
                       void* end)
    : Task(message.scope.chain),
      result_(result),
      arguments_(aligned(end, method.arguments->alignment)),
      method_(&method),
      node_(&node),
      scope_(message.scope),
      caller_(message.caller),
      message_(std::move(message.message)),
      offset_(message.offset),
      reply_(std::move(message.reply)) {
  room = std::move(message.room);
  note_arrival();
}

ServerCall::~ServerCall() {
  if (open_place_ != nullptr) node_->closed(*this);  // nobody will bring its result
  record_handler();                                  // only now nobody changes the record any more
  drop_arguments();
}

void ServerCall::drop_arguments() noexcept {
  if (std::exchange(has_arguments_, false)) ops().destroy(arguments_);
}

namespace {
// The size of a call's memory stands in front of the call.
constexpr std::size_t kFront = alignof(std::max_align_t);
static_assert(kFront >= sizeof(std::size_t));
}  // namespace

void* ServerCall::operator new(std::size_t size, const ArgumentsOps& arguments) {
  const std::size_t all = kFront + size + arguments.alignment + arguments.size;
  void* const memory = take_memory(all);
  ::new (memory) std::size_t(all);
  return static_cast<std::byte*>(memory) + kFront;
}

void ServerCall::operator delete(void* call) noexcept {
  void* const memory = static_cast<std::byte*>(call) - kFront;
  give_memory(memory, *std::launder(static_cast<std::size_t*>(memory)));
}

void ServerCall::run() noexcept {
  const std::shared_ptr<Connection>& caller = reply_.connection;
  const Connection::Hold hold = caller == nullptr ? Connection::Hold::no : caller->hold(*this);
  if (hold == Connection::Hold::no) {
    run_now();
  } else if (hold == Connection::Hold::was_held) {
    const std::shared_ptr<Connection> kept = caller;  // outlives this object
    run_now();
    kept->go_on();
  }
}

void ServerCall::run_now() noexcept {
  if (!wanted()) {
    release();
    return;
  }
  const Time begin = about_now();
  if (method_->traits.in_turn()) {
    const CallPath& path = scope_.path;
    node_->turn().begin_work(method_->name, path.size > 0 ? path.nodes[path.size - 1U] : WaitLink::kNobody, begin);
  }
  if (scope_.deadline - begin < kNear && passed(scope_.deadline)) {
    fail(Error(ErrorKind::deadline, "its deadline passed before the service was free",
               {.node = node_->name(), .method = std::string(method_->name), .may_have_run = ran_}));
    release();
    return;
  }
  if (!begin_once()) return;
  CallContext context{.node = node_,
                      .deadline = scope_.deadline,
                      .chain = scope_.chain,
                      .span = note_begin(),
                      .holds_turn = method_->traits.in_turn(),
                      .path = &scope_.path};
  {
    const CallContextScope scope(context);
    try {
      prepare();
      invoke();
      note_return();
    } catch (...) {
      note_return();
      settle(node_->failure(*method_, scope_, std::current_exception()));
    }
  }
  release();
}

void ServerCall::note_arrival() noexcept {
  if (!scope_.span || !node_->process().spans().on()) return;
  record_handler();  // an earlier attempt has ended
  handled_ = std::make_unique<SpanRecord>(SpanRecord{.id = scope_.span.id,
                                                     .chain = scope_.chain,
                                                     .arrived = now(),
                                                     .node = node_->id(),
                                                     .other = caller_.node,
                                                     .kind = SpanRecord::Kind::handler});
  handled_->set_name(method_->name);
}

// A handler that never began has no record.
void ServerCall::record_handler() noexcept {
  if (handled_ != nullptr && handled_->begin != Time()) node_->process().spans().record(*handled_);
}

std::uint64_t ServerCall::note_begin() noexcept {
  if (handled_ != nullptr) {
    handled_->begin = now();
    handled_->thread = thread_id();
  }
  return scope_.span.id;
}

void ServerCall::note_return() noexcept {
  if (handled_ != nullptr && handled_->end == Time()) handled_->end = now();
}

bool ServerCall::begin_once() { return !counts_once() || node_->once().begin(*this); }

void ServerCall::prepare() {
  room.reset();
  if (!came_as_bytes()) return;
  Reader reader(message_.body.bytes().subspan(offset_), message_.arrays);
  ops().decode(arguments_, reader);
  has_arguments_ = true;
  reader.finish();
  message_ = {};
}

void ServerCall::invoke() {
  std::optional<CopiedArguments> copy;
  if (keeps_arguments()) copy.emplace(ops(), arguments_);
  void* const arguments = copy.has_value() ? copy->get() : arguments_;
  if (method_->defers) {
    Slot<Ref<StateBase>> future;
    method_->invoke(node_->object(), arguments, &future);
    note_return();  // before other threads may end the call
    if (!future.get()) {
      throw Error(ErrorKind::failed,
                  "the handler returned an lp::Future that is not valid: return that of a Promise or of a call, or "
                  "lp::ready(value)");
    }
    follow(future.get());
  } else {
    method_->invoke(node_->object(), arguments, slot_address());
    note_return();
    done();
  }
}

void ServerCall::done() noexcept {
  if (counts_once()) {
    Outcome outcome;
    result_.encode(*this, outcome.message, nullptr);
    node_->once().finish(caller_, std::move(outcome));
  }
  // The side that gave up first has claimed the state; then nobody reads the slot.
  if (claim()) publish();
}

void ServerCall::follow(const Ref<StateBase>& from) {
  const bool opens = !from->ready();
  if (opens) node_->opened(*this);
  on_ready_anywhere(*from, [from, self = Ref<ServerCall>::share(this), opens] {
    if (opens) self->node_->closed(*self);
    if (from->failed()) {
      self->settle(self->node_->failure(*self->method_, self->scope_, std::make_exception_ptr(from->error())));
    } else {
      self->result_.move(*from, *self);
      self->done();
    }
  });
}

void ServerCall::settle(const Error& error) noexcept {
  if (counts_once()) node_->once().finish(caller_, {.message = {}, .error = error});
  if (error.kind() == ErrorKind::stopped && node_->stopping()) {
    fail_lost();
  } else {
    fail(error);
  }
}

void ServerCall::fail_lost() noexcept {
  if (came_as_bytes()) {
    end_lost(/*began=*/true, "the node ended before it replied");
  } else if (keeps_arguments()) {
    ran_ = true;
    retain();
    peer_->resend_local(*this, *info_);
  } else {
    fail(peer_->lost_error(*info_, scope_));
  }
}

bool ServerCall::move_on() noexcept {
  if (!came_as_bytes()) return peer_->resend_local(*this, *info_);
  end_lost(/*began=*/false, "the node ended before the call began");
  release();
  return true;
}

void ServerCall::end_lost(bool began, const char* text) noexcept {
  if (!claim()) return;
  lost_ = true;
  began_ = began;
  publish_error(Error(ErrorKind::stopped, text));
}

void ServerCall::answer(const Message& reply) noexcept {
  if (!claim()) return;
  try {
    result_.decode(*this, reply, reply_front());
    publish();
  } catch (...) {
    publish_error(as_error(std::current_exception()));
  }
}

void ServerCall::refuse(const Error& error) noexcept {
  if (node_ == nullptr) {
    fail(ran_ ? with_may_have_run(error) : error);
  } else {
    ErrorOrigin origin = error.origin();
    origin.may_have_run = origin.may_have_run || ran_;
    origin.method = method_->name;
    origin.path = node_->process().names(scope_.path);
    fail(Error(error.kind(), error.text(), std::move(origin)));
  }
  release();
}

Error ServerCall::late() const {
  return late_after(peer_->late_error(*info_, scope_, may_have_run()), scope_.allowed,
                    text_of(obstacles_at_deadline(caller_.node), caller_.node, peer_->process()));
}
std::optional<CallName> ServerCall::call_name() const {
  if (came_as_bytes()) return std::nullopt;
  return CallName{.callee = peer_->id(), .method = std::string(info_->name), .chain = scope_.chain};
}
void ServerCall::add_obstacles(WaitChain& all) const {
  if (came_as_bytes()) {
    add_wait_chain(*node_, all);
  } else {
    add_obstacles_here(*peer_, all);
  }
}

std::uint32_t ServerCall::answerer() const noexcept { return node_ == nullptr ? 0 : node_->incarnation(); }

void ServerCall::watch_deadline() {
  if (!came_as_bytes()) timer_.watch(peer_->process(), *this, scope_.deadline);
}

void ServerCall::count() noexcept {
  counted_.end(failed(), answerer());
  if (!scope_.span) return;
  if (handled_ != nullptr) {
    handled_->replied = now();
    handled_->failed = failed();
  }
  if (!came_as_bytes()) {
    record_call(*peer_, scope_, caller_, info_->name, SpanRecord::Kind::call, failed());
  }
}

void ServerCall::completed() noexcept {
  if (!came_as_bytes()) {
    timer_.cancel(peer_->process());
  } else if (lost_) {
    send_lost(reply_, began_);
  } else if (failed()) {
    send_error(reply_, error());
  } else {
    try {
      Message message;
      result_.encode(*this, message, receiver_of(reply_));
      send_value(reply_, std::move(message));
    } catch (...) {
      send_error(reply_, node_->failure(*method_, scope_, std::current_exception()));
    }
  }
}

void ClientCall::count() noexcept {
  const bool fails = failed() && !one_way_;
  counted.end(fails, one_way_ ? 0 : incarnation);
  if (!recorded_) return;
  record_call(peer_, scope_, caller_, info_.name, one_way_ ? SpanRecord::Kind::sent : SpanRecord::Kind::call, fails);
}

Room::~Room() {
  if (sender_ != nullptr) sender_->taken(bytes_);
}

void ClientCall::wait_here(Budget& outgoing, Budget::Account& account) {
  delayed = true;
  if (awaited || message.size() < Budget::kSmall) return;
  if (!leaving) leaving = outgoing.take(account, message.size());
  if (!leaving) return;
  waits_here_ = true;
  wake();
}

void ClientCall::leave() {
  sent.store(true);
  leaving.give_back();
  if (delayed) wake();
}

void ClientCall::encode(const void* arguments) {
  const PeerReceiver receiver(peer_);
  Writer writer(call_front(scope_.path.size));
  writer.set_receiver(&receiver);
  info_.arguments->encode(arguments, writer);
  message = writer.take();
}

std::size_t ClientCall::front(const CallPath& path) { return call_front(path.size); }

void ClientCall::on_value(const Message& reply, std::size_t offset) noexcept {
  if (!claim()) return;
  counted.received(reply.size());
  try {
    result_.decode(*this, reply, offset);
    publish();
  } catch (...) {
    publish_error(as_error(std::current_exception()));
  }
}

std::shared_ptr<Connection> ClientCall::carrier() const { return peer_.connection(); }
void ClientCall::want() noexcept {
  if (wanted.exchange(true)) return;
  if (const auto connection = carrier()) connection->expect(*this);
}
Error ClientCall::late() const {
  return late_after(peer_.late_error(info_, scope_, may_have_run()), scope_.allowed,
                    text_of(obstacles_at_deadline(caller_.node), caller_.node, peer_.process()));
}
std::optional<CallName> ClientCall::call_name() const {
  return CallName{.callee = peer_.id(), .method = std::string(info_.name), .chain = scope_.chain};
}
void ClientCall::inquire() {
  if (const auto connection = carrier()) {
    connection->inquire(*this);
  } else {
    StateBase::inquire();
  }
}
void ClientCall::add_obstacles(WaitChain& all) const {
  if (peer_.local() != nullptr) {
    add_obstacles_here(peer_, all);
  } else {
    add_noted(all);
  }
}
void ClientCall::watch_deadline() { timer_.watch(peer_.process(), *this, scope_.deadline); }
void ClientCall::on_served(StateBase& served) noexcept {
  served.retain();
  Ref<StateBase> former(served_.exchange(&served));
  if (ready()) cancel_served();  // the caller gave up meanwhile
}
void ClientCall::cancel_served() noexcept {
  if (served_.load(std::memory_order_relaxed) == nullptr) return;
  // This has no effect if the result came from there.
  if (const Ref<StateBase> served = take_served(); served && failed()) served->cancel(error());
}
void ClientCall::completed() noexcept {
  cancel_served();
  timer_.cancel(peer_.process());
}
void ClientCall::cancelled() noexcept { peer_.forget(*this); }

CallScope scope_of_context(const CallContext& context) {
  CallScope scope;
  scope.deadline = context.deadline;
  scope.chain = context.chain != 0 ? context.chain : new_chain();
  scope.span.id = context.span;
  scope.path = callers_of(context);
  return scope;
}

}  // namespace lp::rpc
