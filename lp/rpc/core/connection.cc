#include "lp/rpc/core/connection.h"

#include <algorithm>
#include <limits>
#include <new>
#include <optional>
#include <utility>

#include "lp/rpc/core/local_process.h"
#include "lp/rpc/core/peer.h"
#include "lp/rpc/core/service_instance.h"
#include "lp/wire/envelope.h"

namespace lp::rpc {
namespace {

// The reply of a call with at least this many bytes is handled at once, because the bytes count until then.
constexpr std::size_t kBytesToExpect = 64 << 10;

std::int64_t to_remaining(Time deadline) {
  return deadline == kNever ? std::numeric_limits<std::int64_t>::max() : until(deadline).count();
}

// Returns an error when no link accepts a part of the message.
std::optional<Error> too_large(const Message& message) {
  std::size_t largest = message.body.size();
  for (const Buffer& array : message.arrays) largest = std::max(largest, array.size());
  if (largest <= Link::kLargestFrame) return std::nullopt;
  return Error(ErrorKind::failed, "a value of " + std::to_string(largest) +
                                      " bytes is too large to be sent: the limit is 8 GiB; send it in parts");
}

// A call that was made for another process may come here after all. The callee refuses a message that lacks an array.
void replace_names_or_spoil(Message& message, const Connection& to) {
  try {
    replace_names(message, to);
  } catch (const Error&) {
    message.arrays.clear();
  }
}

}  // namespace

bool equal_secrets(const std::string& a, const std::string& b) {
  unsigned different = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) different |= static_cast<unsigned>(a[i] ^ b[i]);
  return different == 0;
}

const MessageReceiver* receiver_of(const ReplyTo& to) noexcept { return to.connection.get(); }

void track_served(const ReplyTo& to, StateBase& call) {
  if (to.connection != nullptr) {
    to.connection->serve(to.call, Ref<StateBase>::share(&call));
  } else if (to.pending) {
    to.pending->on_served(call);
  }
}

void send_value(const ReplyTo& to, Message message) noexcept {
  if (to.connection != nullptr) {
    to.connection->reply(PacketKind::value, to.call, std::move(message));
  } else if (to.pending) {
    to.pending->on_value(message, reply_front());
  }
}

void send_item(const ReplyTo& to, Message message) noexcept {
  if (to.connection != nullptr) {
    to.connection->reply(PacketKind::item, to.call, std::move(message));
  } else if (to.pending) {
    to.pending->on_item(message, reply_front());
  }
}

void send_error(const ReplyTo& to, const Error& error) noexcept {
  if (to.connection != nullptr) {
    to.connection->reply(to.call, error);
  } else if (to.pending) {
    to.pending->on_error(error);
  }
}

void send_lost(const ReplyTo& to, bool may_have_run) noexcept {
  if (to.connection != nullptr) {
    to.connection->reply_lost(to.call, may_have_run);
  } else if (to.pending) {
    to.pending->retain();
    to.pending->peer().lost(*to.pending, may_have_run, Loss::node_ended);
  }
}

Connection::~Connection() { close(); }

void Connection::greet() {
  const LocalProcess::Options& options = process_.options();
  link_->expect();  // expects the welcome: calls without a waiting thread wait for it, too
  link_->send(hello_packet({.run = options.run.name, .token = options.run.token, .fingerprint = options.fingerprint}));
}

bool Connection::open() const { return phase_ != Phase::closed; }

void Connection::add_calls(std::vector<OpenCall>& all, std::size_t most) const {
  const std::lock_guard lock(mutex_);
  pending_.each(most, [&](const ClientCall* call) {
    const OpenCall::State state = call->sent.load(std::memory_order_relaxed) ? OpenCall::State::sent
                                  : phase_ == Phase::open                    ? OpenCall::State::asks
                                                                             : OpenCall::State::held;
    all.push_back(open_call(process_, call->caller(), call->peer().id(), call->info().name, call->scope(), state));
  });
}

bool Connection::start(ClientCall& call) {
  std::unique_lock lock(mutex_);
  if (phase_ == Phase::closed) return false;
  if (phase_ == Phase::refused) {
    lock.unlock();
    fail_refused(call);
    return true;
  }
  if (call.claimed()) {  // its caller has given up
    lock.unlock();
    call.release();
    return true;
  }
  const std::size_t size = call.message.size();
  if (const auto error = too_large(call.message)) {
    lock.unlock();
    ErrorOrigin origin{.node = process_.name(call.peer().id()), .method = std::string(call.info().name)};
    call.on_error(Error(error->kind(), error->text(), std::move(origin)));
    call.release();
    return true;
  }
  const Link::Queued queued = call.one_way() ? link_->queued() : Link::Queued();
  const std::size_t bytes = bytes_ + queued.bytes;
  if (pending_.size() + unsent_.size() + queued.messages >= kCallLimit || (bytes > 0 && bytes + size > kByteLimit)) {
    lock.unlock();
    call.on_error(
        Error(ErrorKind::overloaded,
              "too many calls wait for replies already (65,536 calls or 4 GiB): wait for replies before the next call",
              {.node = process_.name(call.peer().id()), .method = std::string(call.info().name)}));
    call.release();
    return true;
  }
  call.size = size;
  if (!call.one_way()) {
    add(call);
    call.expected = call.wanted.load() || size >= kBytesToExpect;
    if (call.expected) link_->expect();
  }
  std::vector<ClientCall*> sent_one_way;
  if (phase_ == Phase::open) {
    transmit_or_ask(call, sent_one_way);
  } else {
    call.delayed = true;
    unsent_.push_back(&call);
  }
  lock.unlock();
  end_one_way(sent_one_way);
  return true;
}

void Connection::add(ClientCall& call) {
  call.call = pending_.add(&call);
  bytes_ += call.size;
}

void Connection::end_one_way(const std::vector<ClientCall*>& sent) {
  for (ClientCall* call : sent) {
    call->end_one_way();
    call->release();
  }
}

void Connection::transmit(ClientCall& call, bool granted) {
  call.leave();
  if (call.claimed()) return;  // its caller gives up: cancel follows
  CallHead head{.call = call.one_way() && !granted ? 0 : call.call,
                .method = call.info().id,
                .remaining = to_remaining(call.scope().deadline),
                .sequence = call.caller().sequence,
                .chain = call.scope().chain,
                .span = call.scope().span.id,
                .node = call.peer().id(),
                .incarnation = call.incarnation,
                .caller = call.caller().node,
                .caller_incarnation = call.caller().incarnation};
  write_call(call.message, call.one_way() ? PacketKind::send : PacketKind::call, head, call.scope().path.span());
  if (!granted && call.size >= Budget::kSmall) {
    window_used_ += call.size;
    call.in_window = !call.one_way();  // a one-way call stays in the window until the callee reports it
  }
  call.counted.sent(call.message.size());
  Message message = call.retries() ? call.message : std::move(call.message);
  replace_names_or_spoil(message, *this);
  link_->send(std::move(message));
}

void Connection::cancel(ClientCall& call) {
  std::vector<ClientCall*> sent_one_way;
  {
    const std::lock_guard lock(mutex_);
    const auto unsent = std::find(unsent_.begin(), unsent_.end(), &call);
    const auto asking =
        std::find_if(asking_.begin(), asking_.end(), [&](const Asking& one) { return one.call == &call; });
    ClientCall** const found = pending_.find(call.call);
    const bool in_pending = found != nullptr && *found == &call;
    if (!in_pending && unsent == unsent_.end() && asking == asking_.end()) return;
    if (in_pending) {
      pending_.take(call.call);
      forget(call);
    }
    const bool known_there = unsent == unsent_.end() && (asking == asking_.end() || asking->asked);
    if (unsent != unsent_.end()) unsent_.erase(unsent);
    if (asking != asking_.end()) asking_.erase(asking);
    if (known_there && phase_ == Phase::open) link_->send(signal_packet(PacketKind::cancel, {.call = call.call}));
    if (phase_ == Phase::open) transmit_more(sent_one_way);
  }
  end_one_way(sent_one_way);
  call.release();
}

void Connection::expect(ClientCall& call) {
  const std::lock_guard lock(mutex_);
  ClientCall** const found = pending_.find(call.call);
  if (found == nullptr || *found != &call || std::exchange(call.expected, true)) return;
  link_->expect();
}

void Connection::forget(ClientCall& call) {
  bytes_ -= call.size;
  if (std::exchange(call.in_window, false)) window_used_ -= call.size;
  if (std::exchange(call.expected, false)) link_->expect_no_more();
}

void Connection::grant(ClientCall& call, std::uint64_t items) {
  const std::lock_guard lock(mutex_);
  if (phase_ == Phase::open) link_->send(signal_packet(PacketKind::credit, {.call = call.call, .amount = items}));
}

void Connection::inquire(ClientCall& call) noexcept {
  const std::lock_guard lock(mutex_);
  ClientCall** const found = pending_.find(call.call);
  if (phase_ != Phase::open || found == nullptr || *found != &call || !call.sent.load()) return;
  link_->send(signal_packet(PacketKind::inquiry, {.call = call.call}));
}

void Connection::lose(Peer& peer, Loss loss) {
  const std::lock_guard losing(losing_);
  std::vector<ClientCall*> lost;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(unsent_, [&](ClientCall* call) {
      if (&call->peer() != &peer) return false;
      if (call->one_way()) lost.push_back(call);
      return true;
    });
    std::erase_if(asking_, [&](const Asking& one) {
      if (&one.call->peer() != &peer) return false;
      if (one.call->one_way() && !one.asked) lost.push_back(one.call);
      return true;
    });
    for (ClientCall* call : pending_.take_if([&](const ClientCall* one) { return &one->peer() == &peer; })) {
      forget(*call);
      lost.push_back(call);
    }
  }
  for (ClientCall* call : lost) peer.lost(*call, call->sent.load(std::memory_order_relaxed), loss);
}

// Returns the one-way calls that have not left. A call with a number is in pending_.
std::vector<ClientCall*> Connection::take_unsent_one_way() {
  std::vector<ClientCall*> left;
  for (ClientCall* call : std::exchange(unsent_, {})) {
    if (call->one_way()) left.push_back(call);
  }
  for (const Asking& one : std::exchange(asking_, {})) {
    if (one.call->one_way() && !one.asked) left.push_back(one.call);
  }
  return left;
}

std::vector<ClientCall*> Connection::end() {
  std::vector<ClientCall*> left = take_unsent_one_way();
  for (ClientCall* call : pending_.take_if([](const ClientCall*) { return true; })) {
    forget(*call);
    left.push_back(call);
  }
  phase_ = Phase::closed;
  return left;
}

void Connection::close() {
  std::vector<ClientCall*> lost;
  std::vector<Ref<StateBase>> served;  // released outside the lock
  std::deque<ServerCall*> held;
  std::map<std::uint64_t, Budget::Share> asked;  // given back outside the lock
  const std::lock_guard losing(losing_);
  {
    const std::lock_guard lock(mutex_);
    if (phase_ == Phase::refused) return;
    lost = end();
    served = served_.take_if([](const Ref<StateBase>&) { return true; });
    held.swap(held_);
    asked.swap(asked_);
    asks_ = 0;
  }
  for (ServerCall* call : held) call->refuse(Error(ErrorKind::stopped, "its caller has ended"));
  for (const Ref<StateBase>& call : served) call->caller_ended();
  for (ClientCall* call : lost) call->peer().lost(*call, call->sent.load(std::memory_order_relaxed), Loss::broken);
}

void Connection::sever() {
  std::vector<ClientCall*> unsent;
  const std::lock_guard losing(losing_);
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::open) return;  // nothing was sent yet, and a refusal may be on its way
    phase_ = Phase::closed;
    unsent = take_unsent_one_way();
    for (ClientCall* call : pending_.take_if([](const ClientCall* one) { return !one->sent.load(); })) {
      forget(*call);
      unsent.push_back(call);
    }
  }
  for (ClientCall* call : unsent) call->peer().lost(*call, /*may_have_run=*/false, Loss::broken);
}

void Connection::fail_all(const Error& error) {
  std::vector<ClientCall*> left;
  {
    const std::lock_guard lock(mutex_);
    if (phase_ == Phase::closed || phase_ == Phase::refused) return;
    left = end();
  }
  for (ClientCall* call : left) {
    call->on_error(call->sent.load(std::memory_order_relaxed) ? with_may_have_run(error) : error);
    call->release();
  }
}

void Connection::refuse(const std::exception& problem) noexcept {
  if (dynamic_cast<const std::bad_alloc*>(&problem) != nullptr) {
    const Error error(ErrorKind::failed,
                      "there is no memory for a message that came: give the process more memory (`ulimit -v`, the "
                      "limit of its container), or send smaller messages");
    process_.lose_message(error);
    fail_all(error);
  } else if (!std::exchange(refused_, true)) {
    process_.count_refusal();
  }
  close();
}

void Connection::serve(std::uint64_t call, Ref<StateBase> state) {
  Ref<StateBase> replaced;  // released outside the lock
  const std::lock_guard lock(mutex_);
  if (phase_ == Phase::open) replaced = served_.put(call, std::move(state));
}

void Connection::reply(PacketKind kind, std::uint64_t call, Message message) {
  if (const auto error = too_large(message)) return reply(call, *error);
  write_reply(message, kind, {.call = call});
  Ref<StateBase> served;  // released outside the lock
  const std::lock_guard lock(mutex_);
  if (phase_ != Phase::open) return;
  if (kind == PacketKind::value) served = served_.take(call);
  link_->send(std::move(message));
}

void Connection::reply(std::uint64_t call, const Error& error) {
  Message message = error_packet(call, error);
  Ref<StateBase> served;
  const std::lock_guard lock(mutex_);
  if (phase_ != Phase::open) return;
  served = served_.take(call);
  link_->send(std::move(message));
}

void Connection::reply_lost(std::uint64_t call, bool may_have_run) {
  if (!process_.run_ends()) {
    return reply(call, Error(ErrorKind::disconnected, "the node ended", {.may_have_run = may_have_run}));
  }
  Ref<StateBase> served;
  const std::lock_guard lock(mutex_);
  served = served_.take(call);
}

Connection::Hold Connection::hold_if_full(ServerCall& call) noexcept {
  const std::lock_guard lock(mutex_);
  if (phase_ != Phase::open) return Hold::no;
  if (next_ == &call) {
    next_ = nullptr;
    running_ = true;
    return Hold::was_held;
  }
  if (!link_->full() && held_.empty() && next_ == nullptr && !running_) return Hold::no;
  held_.push_back(&call);
  holding_ = true;
  return Hold::held;
}

void Connection::go_on() noexcept {
  std::unique_lock lock(mutex_);
  running_ = false;
  resume(std::move(lock));
}

void Connection::drained() noexcept {
  std::unique_lock lock(mutex_);
  if (next_ == nullptr && !running_) resume(std::move(lock));
}

void Connection::resume(std::unique_lock<std::mutex> lock) noexcept {
  if (held_.empty()) {
    holding_ = false;
    return;
  }
  if (link_->full()) return;
  ServerCall* const call = held_.front();
  held_.pop_front();
  next_ = call;
  lock.unlock();
  call->node().resume(call);
}

}  // namespace lp::rpc
