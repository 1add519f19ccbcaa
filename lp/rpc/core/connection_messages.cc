// The messages of a connection as they arrive: each changes the state of a call, or starts one.

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lp/rpc/core/connection.h"
#include "lp/rpc/core/local_process.h"
#include "lp/rpc/core/peer.h"
#include "lp/rpc/core/service_instance.h"
#include "lp/wire/envelope.h"

namespace lp::rpc {
namespace {

// The calls that wait may exceed the cache. While a reply is handled, the call of the reply after the next one is
// fetched, together with the slot for its result, which lies behind it.
constexpr std::size_t kAhead = 2;
void prefetch(const ClientCall& call) {
  constexpr std::size_t kLine = 64;
  const char* const bytes = reinterpret_cast<const char*>(&call);
  for (std::size_t at = 0; at < sizeof call + kLine; at += kLine) __builtin_prefetch(bytes + at, 1);
}

Time from_remaining(std::int64_t remaining) {
  if (remaining == std::numeric_limits<std::int64_t>::max()) return kNever;
  return after(Duration(std::max<std::int64_t>(remaining, 0)));
}

}  // namespace

Runnable Connection::on_message(Message message) {
  const PacketKind kind = read_kind(message);
  const Phase phase = phase_;
  if (phase == Phase::closed || phase == Phase::refused) return {};
  switch (kind) {
    case PacketKind::hello: on_hello(message); return {};
    case PacketKind::welcome: on_welcome(); return {};
    case PacketKind::refusal: on_refusal(read_refusal(message)); return {};
    default: break;
  }
  if (phase != Phase::open) throw Error(ErrorKind::failed, "a message arrived before the greeting");
  switch (kind) {
    case PacketKind::call: return on_call(std::move(message), /*one_way=*/false);
    case PacketKind::send: return on_call(std::move(message), /*one_way=*/true);
    case PacketKind::value:
    case PacketKind::item:
    case PacketKind::error: {
      const ReadyHere ready;
      on_reply(kind, message);
      return ready.runnable();
    }
    case PacketKind::cancel:
    case PacketKind::credit:
    case PacketKind::room:
    case PacketKind::taken:
    case PacketKind::inquiry: on_signal(kind, message); break;
    case PacketKind::wait_chain: on_wait_chain(message); break;
    case PacketKind::ask: on_ask(message); break;
    default: break;
  }
  return {};
}

void Connection::on_hello(const Message& message) {
  const Hello hello = read_hello(message);
  const LocalProcess::Options& options = process_.options();
  std::string refusal;
  if (!equal_secrets(hello.token, options.run.token) || hello.run != options.run.name) {
    refusal = "this process belongs to another run: its secret is different";
  } else if (hello.fingerprint != options.fingerprint) {
    refusal = "this process has another program or another version of it: use the same binary for the whole run";
  }
  if (!refusal.empty()) {
    refused_ = true;
    process_.count_refusal();  // counted before the other side can know
    link_->send(refusal_packet(refusal));
    throw Error(ErrorKind::failed, refusal);
  }
  const std::lock_guard lock(mutex_);
  if (phase_ == Phase::closed) return;
  phase_ = Phase::open;
  link_->send(welcome_packet());
}

void Connection::on_welcome() {
  std::vector<ClientCall*> sent_one_way;
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::greeting) return;
    phase_ = Phase::open;
    link_->expect_no_more();
    for (ClientCall* call : std::exchange(unsent_, {})) transmit_or_ask(*call, sent_one_way);
  }
  end_one_way(sent_one_way);
}

void Connection::on_refusal(std::string text) {
  std::vector<ClientCall*> refused;
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::greeting && phase_ != Phase::open) return;
    refused = end();
    refusal_ = std::move(text);
    phase_ = Phase::refused;
  }
  for (ClientCall* call : refused) fail_refused(*call);
}

void Connection::fail_refused(ClientCall& call) {
  call.on_error(Error(ErrorKind::failed, "refused: " + refusal_,
                      {.node = process_.name(call.peer().id()),
                       .method = std::string(call.info().name),
                       .may_have_run = call.sent.load()}));
  call.release();
}

Runnable Connection::on_call(Message message, bool one_way) {
  CallHead head;
  CallScope scope;
  std::size_t path_length = 0;
  const std::size_t offset = read_call(message, head, scope.path.nodes, path_length);
  scope.path.size = static_cast<std::uint8_t>(path_length);
  for (const NodeId node : scope.path.span()) {
    if (node >= process_.size())
      throw Error(ErrorKind::failed, "malformed message: a node of its call path does not exist");
  }
  scope.deadline = from_remaining(head.remaining);
  scope.chain = head.chain;
  scope.span.id = head.span;
  if (head.node >= process_.size()) throw Error(ErrorKind::failed, "malformed message: its node does not exist");
  if (head.caller != Caller::kOutside && head.caller >= process_.size()) {
    throw Error(ErrorKind::failed, "malformed message: its caller does not exist");
  }
  std::unique_ptr<Room> room = room_of(message, head.call, one_way);
  ReplyTo reply;
  if (!one_way) reply = {.connection = shared_from_this(), .call = head.call};
  const auto refused = [&](const Error& error) {
    if (!one_way) this->reply(head.call, error);
    return Runnable();
  };

  if (head.caller != Caller::kOutside && !process_.admit(head.caller, head.caller_incarnation)) {
    return refused(Error(ErrorKind::stopped, "this incarnation of the caller was replaced by a newer one",
                         {.node = process_.name(head.node)}));
  }
  ServiceInstance* const node = process_.peer(head.node).local();
  if (node == nullptr || node->stopping() || head.incarnation != node->incarnation()) {
    return refused(Error(ErrorKind::disconnected, "this incarnation of the node is not in this process"));
  }
  const Method* const method = node->find(head.method);
  if (method == nullptr) {
    return refused(Error(ErrorKind::unimplemented, "the service has no method of this name and these types",
                         {.node = node->name()}));
  }
  return node->accept(
      *method, {.message = std::move(message),
                .offset = offset,
                .scope = scope,
                .caller = {.node = head.caller, .incarnation = head.caller_incarnation, .sequence = head.sequence},
                .reply = std::move(reply),
                .room = std::move(room)});
}

void Connection::on_reply(PacketKind kind, const Message& message) {
  ReplyHead head;
  const std::size_t offset = read_reply(message, head);
  std::optional<Error> error;
  if (kind == PacketKind::error) error = read_error(message);
  const bool lost = error && error->kind() == ErrorKind::disconnected && error->node().empty();
  std::unique_lock losing(losing_, std::defer_lock);
  if (lost) losing.lock();
  Ref<StateBase> state;
  ClientCall* call = nullptr;
  std::vector<ClientCall*> sent_one_way;
  {
    const std::lock_guard lock(mutex_);
    ClientCall** const found = pending_.find(head.call);
    if (found == nullptr) return;  // its caller gave up
    call = *found;
    if (kind == PacketKind::item) {
      state = Ref<StateBase>::share(call);
    } else {
      state = Ref<StateBase>(pending_.take(head.call));
      forget(*call);
      if (!asking_.empty() && std::erase_if(asking_, [&](const Asking& one) { return one.call == call; }) > 0) {
        transmit_more(sent_one_way);  // the call was refused
      }
      if (ClientCall* const* soon = pending_.ahead(head.call, kAhead)) prefetch(**soon);
    }
  }
  end_one_way(sent_one_way);
  if (kind == PacketKind::item) {
    call->on_item(message, offset);
  } else if (kind == PacketKind::value) {
    call->on_value(message, offset);
  } else if (lost) {
    call->peer().ending(call->incarnation);
    state.take();
    call->peer().lost(*call, error->may_have_run(), Loss::node_ended);
  } else {
    call->on_error(*error);
  }
}

void Connection::on_signal(PacketKind kind, const Message& message) {
  ReplyHead head;
  read_reply(message, head);
  if (kind == PacketKind::room) return on_room(head.call);
  if (kind == PacketKind::taken) return on_taken(head.amount);
  if (kind == PacketKind::inquiry) return on_inquiry(head.call);
  Ref<StateBase> state;
  Budget::Share unused;  // given back outside the lock
  {
    const std::lock_guard lock(mutex_);
    if (const auto asked = asked_.find(head.call); kind == PacketKind::cancel && asked != asked_.end()) {
      unused = std::move(asked->second);
      asked_.erase(asked);
      --asks_;
    }
    const Ref<StateBase>* const found = served_.find(head.call);
    if (found == nullptr) return;  // answered meanwhile
    state = *found;
  }
  if (kind == PacketKind::cancel) {
    state->cancel(Error(ErrorKind::stopped, "cancelled by the caller"));
  } else {
    state->grant(head.amount);
  }
}

void Connection::on_inquiry(std::uint64_t call) {
  Ref<StateBase> state;
  {
    const std::lock_guard lock(mutex_);
    const Ref<StateBase>* const found = served_.find(call);
    if (found == nullptr) return;  // answered meanwhile
    state = *found;
  }
  WaitChain all;
  state->add_obstacles(all);
  if (all.empty()) return;
  Message answer = wait_chain_packet(call, all);
  const std::lock_guard lock(mutex_);
  if (phase_ == Phase::open) link_->send(std::move(answer));
}

void Connection::on_wait_chain(const Message& message) {
  ReplyHead head;
  read_reply(message, head);
  WaitChain all = read_wait_chain(message);
  for (const WaitLink& one : all) {
    if (one.node >= process_.size()) throw Error(ErrorKind::failed, "malformed message: a node of it does not exist");
  }
  Ref<StateBase> state;  // released outside the lock
  ClientCall* call = nullptr;
  {
    const std::lock_guard lock(mutex_);
    ClientCall** const found = pending_.find(head.call);
    if (found == nullptr) return;  // its caller gave up
    call = *found;
    state = Ref<StateBase>::share(call);
  }
  call->note_obstacles(std::move(all));
}

}  // namespace lp::rpc
