#include "lp/rpc/core/peer.h"

#include <algorithm>
#include <utility>

#include "lp/rpc/core/connection.h"
#include "lp/rpc/core/edge.h"
#include "lp/rpc/core/local_process.h"
#include "lp/rpc/core/network.h"
#include "lp/rpc/core/service_instance.h"

namespace lp::rpc {
namespace {

constexpr Duration kRedial = std::chrono::seconds(1);
constexpr int kMostBroken = 3;  // connections that may break under one call

}  // namespace

void Peer::up_here(ServiceInstance& core) {
  std::unique_lock lock(mutex_);
  reopen();
  incarnation_ = core.incarnation();
  up_ = &core;
  flush(std::move(lock));
}

void Peer::down_here(ServiceInstance& core) {
  process_.admit(id_, core.incarnation() + 1);  // calls that it has left behind are not delivered
  const std::lock_guard lock(mutex_);
  if (up_ != &core) return;
  up_ = nullptr;
  local_.store(nullptr, std::memory_order_release);
}

void Peer::up_elsewhere(std::uint32_t incarnation, const std::string& endpoint, const std::string& key) {
  std::shared_ptr<Connection> old;
  {
    const std::lock_guard lock(mutex_);
    if (incarnation < incarnation_) return;
    reopen();
    endpoint_ = endpoint;
    key_ = key;
    if (incarnation_ != incarnation) old = std::exchange(connection_, nullptr);
    incarnation_ = incarnation;
  }
  if (old != nullptr) old->lose(*this, Loss::node_ended);
  if (Network* const network = process_.network(); network != nullptr) network->dial(endpoint, key, *this, incarnation);
}

bool Peer::lost_its_way() const { return connection_ != nullptr && !connection_->open() && incarnation_ > ended_; }

// If the node is gone, news of that come soon. Otherwise a malformed message ended the connection, or it broke.
void Peer::redial_later() {
  if (!lost_its_way() || std::exchange(redials_, true)) return;
  process_.timers().at(after(kRedial), [this, incarnation = incarnation_] { redial(incarnation); });
}

void Peer::redial(std::uint32_t incarnation) {
  std::string endpoint;
  std::string key;
  {
    const std::lock_guard lock(mutex_);
    redials_ = false;
    if (!awaits(incarnation) || !lost_its_way()) return;
    endpoint = endpoint_;
    key = key_;
  }
  process_.network()->dial(endpoint, key, *this, incarnation);
}

void Peer::connected(std::uint32_t incarnation, std::shared_ptr<Connection> connection) {
  std::shared_ptr<Connection> old;
  {
    const std::lock_guard lock(mutex_);
    if (!awaits(incarnation) || connection_ == connection) return;
    old = std::exchange(connection_, nullptr);
  }
  // The calls that were sent there are held before anything is sent here.
  if (old != nullptr) old->lose(*this, Loss::broken);
  std::unique_lock lock(mutex_);
  if (!awaits(incarnation)) return;
  connection_ = std::move(connection);
  flush(std::move(lock));
}

void Peer::unreachable(std::uint32_t incarnation, const Error& error) {
  if (error.kind() == ErrorKind::disconnected) return;  // the node has died meanwhile: there will be more news
  std::unique_lock lock(mutex_);
  if (awaits(incarnation)) end(std::move(lock), gone_error(error.text()));
}

void Peer::broken(const Connection& connection) noexcept {
  const std::lock_guard lock(mutex_);
  if (connection_.get() == &connection) redial_later();
}

void Peer::down(std::uint32_t incarnation) {
  std::shared_ptr<Connection> old;
  {
    const std::lock_guard lock(mutex_);
    if (incarnation < incarnation_) return;
    reopen();
    incarnation_ = incarnation;
    old = std::exchange(connection_, nullptr);
  }
  if (old != nullptr) old->lose(*this, Loss::node_ended);
}

void Peer::reopen() {
  if (closed_ != nullptr && closed_->kind() != ErrorKind::stopped) closed_.reset();
}

void Peer::gone(const std::string& text) {
  close(gone_error(text.empty() ? "the node has ended and will not come back" : text));
}

Error Peer::gone_error(const std::string& text) const {
  return Error(ErrorKind::disconnected, text, {.node = process_.name(id_)});
}

void Peer::close(const Error& error) { end(std::unique_lock(mutex_), error); }

void Peer::end(std::unique_lock<std::mutex> lock, const Error& error) {
  if (closed_ != nullptr && closed_->kind() == ErrorKind::stopped) return;
  closed_ = std::make_unique<Error>(error);
  const auto held = std::exchange(held_, {});
  const std::shared_ptr<Connection> old = std::exchange(connection_, nullptr);
  lock.unlock();
  if (old != nullptr) old->lose(*this, Loss::node_ended);
  for (const auto& [order, one] : held) fail(one, error);
}

void Peer::accept_local(ServerCall& call, const MethodInfo& info) { accept({.call = &call, .info = &info}); }

bool Peer::resend_local(ServerCall& call, const MethodInfo& info) noexcept {
  hold_or_fail({.call = &call, .info = &info});
  return true;
}

void Peer::send(ClientCall& call) { accept({.pending = &call, .info = &call.info()}); }

void Peer::accept(Held held) noexcept {
  if (held.scope().allowed <= CallOptions::kNoTime) {
    return fail(held,
                Error(ErrorKind::deadline, "the call was made after its deadline", place(*held.info, held.scope())));
  }
  Way way_now;
  {
    const std::lock_guard lock(mutex_);
    held.order() = ++last_order_;
    if (held_.empty() && !flushing_) way_now = way(held);
  }
  if (!way_now || !deliver(way_now, held)) hold_or_fail(held);
}

// The caller holds the lock.
Peer::Way Peer::way(const Held& held) const {
  if (closed_ != nullptr) return {};
  if (up_ != nullptr && !up_->stopping()) return {.core = up_};
  if (held.pending == nullptr || !reachable()) return {};
  held.pending->incarnation = incarnation_;
  return {.connection = connection_};
}

bool Peer::deliver(const Way& way, const Held& held) noexcept {
  if (way.core == nullptr) return way.connection->start(*held.pending);
  if (held.call != nullptr) {
    accept_at(*way.core, *held.call, *held.info);
  } else {
    accept_bytes_at(*way.core, *held.pending);
  }
  return true;
}

void Peer::fail(const Held& held, const Error& error) const noexcept {
  if (held.call != nullptr) {
    held.call->refuse(error);
  } else {
    held.pending->on_error(error);
    held.pending->release();
  }
}

void Peer::accept_at(ServiceInstance& core, ServerCall& call, const MethodInfo& info) noexcept {
  const Method* const method = core.find(info.id);
  if (method == nullptr) {
    call.refuse(unimplemented(info));
    return;
  }
  call.arrive(core, *method);
  core.accept(&call);
}

void Peer::accept_bytes_at(ServiceInstance& core, ClientCall& call) noexcept {
  const Ref<ClientCall> held(&call);
  const Method* const method = core.find(call.info().id);
  if (method == nullptr) {
    call.on_error(unimplemented(call.info()));
    return;
  }
  Incoming message{.message = call.message,
                   .offset = ClientCall::front(call.scope().path),
                   .scope = call.scope(),
                   .caller = call.caller(),
                   .reply = {}};
  if (call.leaving) message.room = std::make_unique<Room>(std::move(call.leaving));
  call.leave();
  if (call.claimed()) return;  // its caller has given up
  call.incarnation = core.incarnation();
  call.counted.sent(call.message.size());
  if (call.one_way()) {
    call.end_one_way();
  } else {
    message.reply.pending = held;
  }
  if (const Runnable handler = core.accept(*method, std::move(message))) handler.run_in(process_.pool());
}

void Peer::hold_or_fail(Held held) noexcept {
  std::unique_lock lock(mutex_);
  if (closed_ != nullptr) {
    const Error error = *closed_;
    lock.unlock();
    return fail(held, error);
  }
  if (held.pending != nullptr) {
    held.pending->wanted = true;  // the thread that waits for it may read another connection
    held.pending->wait_here(process_.outgoing(), leaving_);
  }
  if (held_.size() >= kHeldLimit) {
    lock.unlock();
    return fail(
        held, Error(ErrorKind::overloaded, std::to_string(kHeldLimit) + " calls already wait for the node to be ready",
                    {.node = process_.name(id_), .method = std::string(held.info->name)}));
  }
  keep(held);
  redial_later();
  flush(std::move(lock));
}

// Holds a call. A call that comes back stands before those that were made after it.
void Peer::keep(const Held& held) { held_.emplace_hint(held_.end(), held.order(), held); }

void Peer::flush(std::unique_lock<std::mutex> lock) noexcept {
  if (flushing_) return;
  flushing_ = true;
  while (!held_.empty()) {
    const Held first = held_.begin()->second;
    const Way way_now = way(first);
    if (!way_now) break;
    held_.erase(held_.begin());
    lock.unlock();
    const bool lost = has_lost_its_caller(first);
    if (lost) fail(first, Error(ErrorKind::stopped, "the caller has ended", place(*first.info, first.scope())));
    const bool delivered = lost || deliver(way_now, first);
    lock.lock();
    if (!delivered) keep(first);  // the connection has closed
  }
  flushing_ = false;
  // From now on calls may run on their caller's stack: no call is before them.
  if (held_.empty() && up_ != nullptr) local_.store(up_, std::memory_order_release);
}

bool Peer::has_lost_its_caller(const Held& held) const {
  const Caller& caller = held.caller();
  return caller.node != Caller::kOutside && !process_.admit(caller.node, caller.incarnation);
}

void Peer::forget(ClientCall& call) noexcept {
  std::shared_ptr<Connection> connection;
  bool release = false;
  {
    const std::lock_guard lock(mutex_);
    connection = connection_;
    if (const auto held = held_.find(call.order); held != held_.end() && held->second.pending == &call) {
      held_.erase(held);
      release = true;
    }
  }
  if (release) {
    call.release();
  } else if (connection != nullptr) {
    connection->cancel(call);
  }
}

void Peer::grant(ClientCall& call, std::uint64_t items) noexcept {
  if (const auto to = connection()) to->grant(call, items);
}

std::shared_ptr<Connection> Peer::connection() const {
  const std::lock_guard lock(mutex_);
  return connection_;
}

void Peer::add_held(std::vector<OpenCall>& all, std::size_t most) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [order, one] : held_) {
    if (most-- == 0) return;
    all.push_back(open_call(process_, one.caller(), id_, one.info->name, one.scope(), OpenCall::State::held));
  }
}

bool Peer::up() const {
  const std::lock_guard lock(mutex_);
  return closed_ == nullptr && ((up_ != nullptr && !up_->stopping()) || reachable());
}

bool Peer::reachable() const { return connection_ != nullptr && connection_->open() && incarnation_ > ended_; }

void Peer::ending(std::uint32_t incarnation) noexcept {
  const std::lock_guard lock(mutex_);
  ended_ = std::max(ended_, incarnation);
}

void Peer::lost(ClientCall& call, bool may_have_run, Loss loss) noexcept {
  const bool breaks = may_have_run && loss == Loss::broken && ++call.broken >= kMostBroken;
  if (!may_have_run || (call.retries() && !breaks)) {
    if (may_have_run) call.ran();
    call.sent.store(false, std::memory_order_relaxed);
    hold_or_fail({.pending = &call, .info = &call.info()});
    return;
  }
  call.on_error(lost_error(call.info(), call.scope(), loss));
  call.release();
}

Error Peer::lost_error(const MethodInfo& info, const CallScope& scope, Loss loss) const {
  ErrorOrigin origin = place(info, scope);
  origin.may_have_run = true;
  const std::lock_guard lock(mutex_);
  const bool stopped = process_.run_ends() || (closed_ != nullptr && closed_->kind() == ErrorKind::stopped);
  if (loss == Loss::node_ended || stopped) {
    return Error(stopped ? ErrorKind::stopped : ErrorKind::disconnected, "the node ended before it replied",
                 std::move(origin));
  }
  return Error(ErrorKind::disconnected,
               "the connection to the node broke before it replied: the network failed, or there was no memory for a "
               "message in one of the two processes (give it more: `ulimit -v`, the limit of its container)",
               std::move(origin));
}

ErrorOrigin Peer::place(const MethodInfo& info, const CallScope& scope) const {
  return {.node = process_.name(id_), .method = std::string(info.name), .path = process_.names(scope.path)};
}

Error Peer::unimplemented(const MethodInfo& info) const {
  return Error(ErrorKind::unimplemented, "the service has no method of this name and these types",
               {.node = process_.name(id_), .method = std::string(info.name)});
}

Error Peer::late_error(const MethodInfo& info, const CallScope& scope, bool may_have_run) const {
  ErrorOrigin origin = place(info, scope);
  origin.may_have_run = may_have_run;
  return Error(ErrorKind::deadline, may_have_run ? "no reply in time" : "the node was not ready in time",
               std::move(origin));
}

}  // namespace lp::rpc
