#include "lp/rpc/peer.h"

#include <algorithm>
#include <utility>

#include "lp/rpc/connection.h"
#include "lp/rpc/edge.h"
#include "lp/rpc/hub.h"
#include "lp/rpc/network.h"
#include "lp/rpc/node_core.h"

namespace lp::internal {
namespace {

constexpr Duration kRedial = std::chrono::seconds(1);

void fail_held(Pending* pending, Call* call, const Error& error) noexcept {
  if (call != nullptr) {
    call->refuse(error);
  } else {
    pending->on_error(error);
    pending->release();
  }
}

}  // namespace

void Peer::up_here(NodeCore& core) {
  std::vector<Held> held;
  {
    const std::lock_guard lock(mutex_);
    reopen();
    incarnation_ = core.incarnation();
    local_.store(&core, std::memory_order_release);
    held = std::exchange(held_, {});
  }
  flush(std::move(held));
}

void Peer::down_here(NodeCore& core) {
  const std::lock_guard lock(mutex_);
  if (local_.load() == &core) local_.store(nullptr, std::memory_order_release);
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
  if (old != nullptr) old->lose(*this);
  if (Network* const network = hub_.network(); network != nullptr) network->dial(endpoint, key, *this, incarnation);
}

bool Peer::lost_its_way() const { return connection_ != nullptr && !connection_->open() && incarnation_ > ended_; }

// When the node is gone there are news of that soon. Else something came that was not understood.
void Peer::redial_later() {
  if (!lost_its_way() || std::exchange(redials_, true)) return;
  hub_.timers().at(after(kRedial), [this, incarnation = incarnation_] { redial(incarnation); });
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
  hub_.network()->dial(endpoint, key, *this, incarnation);
}

void Peer::connected(std::uint32_t incarnation, std::shared_ptr<Connection> connection) {
  std::vector<Held> held;
  std::shared_ptr<Connection> old;
  {
    const std::lock_guard lock(mutex_);
    if (!awaits(incarnation) || connection_ == connection) return;
    old = std::exchange(connection_, std::move(connection));
    held = std::exchange(held_, {});
  }
  if (old != nullptr) old->lose(*this);
  flush(std::move(held));
}

void Peer::unreachable(std::uint32_t incarnation, const Error& error) {
  if (error.kind() == ErrorKind::disconnected) return;  // it has died meanwhile: there will be more news
  std::unique_lock lock(mutex_);
  if (awaits(incarnation)) end(std::move(lock), gone_error(error.text()));
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
  if (old != nullptr) old->lose(*this);
}

void Peer::reopen() {
  if (closed_ != nullptr && closed_->kind() != ErrorKind::stopped) closed_.reset();
}

void Peer::gone(const std::string& text) {
  close(gone_error(text.empty() ? "the node has ended and will not come back" : text));
}

Error Peer::gone_error(const std::string& text) const {
  return Error(ErrorKind::disconnected, text, {.node = hub_.name(id_)});
}

void Peer::close(const Error& error) { end(std::unique_lock(mutex_), error); }

void Peer::end(std::unique_lock<std::mutex> lock, const Error& error) {
  if (closed_ != nullptr && closed_->kind() == ErrorKind::stopped) return;
  closed_ = std::make_unique<Error>(error);
  const std::vector<Held> held = std::exchange(held_, {});
  const std::shared_ptr<Connection> old = std::exchange(connection_, nullptr);
  lock.unlock();
  if (old != nullptr) old->lose(*this);
  for (const Held& one : held) fail_held(one.pending, one.call, error);
}

void Peer::accept_local(Call& call, const MethodInfo& info) { deliver_in_time({.call = &call, .info = &info}); }

bool Peer::resend_local(Call& call, const MethodInfo& info) noexcept {
  hold_or_fail({.call = &call, .info = &info});
  return true;
}

void Peer::send(Pending& call) { deliver_in_time({.pending = &call, .info = &call.info()}); }

void Peer::deliver_in_time(const Held& held) noexcept {
  const CallScope& scope = held.call != nullptr ? held.call->scope() : held.pending->scope();
  if (scope.allowed > CallOptions::kNoTime) return deliver(held);
  fail_held(held.pending, held.call,
            Error(ErrorKind::deadline, "the call was made when its time was over", place(*held.info, scope)));
}

void Peer::deliver(Held held) noexcept {
  NodeCore* core = nullptr;
  std::shared_ptr<Connection> connection;
  {
    const std::lock_guard lock(mutex_);
    if (closed_ == nullptr) {
      core = local();
      if (reachable()) connection = connection_;
      if (held.pending != nullptr) held.pending->incarnation = incarnation_;
    }
  }
  if (core != nullptr && !core->stopping()) {
    if (held.call != nullptr) {
      accept_at(*core, *held.call, *held.info);
    } else {
      accept_bytes_at(*core, *held.pending);
    }
  } else if (connection != nullptr && held.pending != nullptr && connection->start(*held.pending)) {
    // it is on its way
  } else {
    hold_or_fail(held);
  }
}

void Peer::accept_at(NodeCore& core, Call& call, const MethodInfo& info) noexcept {
  const Method* const method = core.find(info.id);
  if (method == nullptr) {
    call.refuse(unimplemented(info));
    return;
  }
  call.arrive(core, *method);
  core.accept(&call);
}

void Peer::accept_bytes_at(NodeCore& core, Pending& call) noexcept {
  const Ref<Pending> held(&call);
  const Method* const method = core.find(call.info().id);
  if (method == nullptr) {
    call.on_error(unimplemented(call.info()));
    return;
  }
  Incoming message{.frames = call.frames,
                   .offset = Pending::front(call.scope().path),
                   .scope = call.scope(),
                   .caller = call.caller(),
                   .reply = {}};
  call.sent.store(true, std::memory_order_relaxed);
  call.counted.sent(call.frames.size());
  if (!call.one_way()) {
    message.reply.pending = held;
  }
  if (const Runnable handler = core.accept(*method, std::move(message))) hub_.pool().run([handler] { handler.run(); });
}

void Peer::hold_or_fail(Held held) noexcept {
  std::unique_lock lock(mutex_);
  if (closed_ != nullptr) {
    const Error error = *closed_;
    lock.unlock();
    fail_held(held.pending, held.call, error);
    return;
  }
  if ((local() != nullptr && !local()->stopping()) ||
      (held.pending != nullptr && reachable())) {  // since the caller looked
    lock.unlock();
    deliver(held);
    return;
  }
  if (held.pending != nullptr) held.pending->wanted = true;  // who waits for it may read another connection
  if (held_.size() >= kHeldLimit) {
    lock.unlock();
    fail_held(held.pending, held.call,
              Error(ErrorKind::overloaded, std::to_string(kHeldLimit) + " calls wait for the node to come up",
                    {.node = hub_.name(id_), .method = std::string(held.info->name)}));
    return;
  }
  held_.push_back(held);
  redial_later();
}

void Peer::flush(std::vector<Held> held) noexcept {
  for (const Held& one : held) deliver(one);
}

void Peer::forget(Pending& call) noexcept {
  std::shared_ptr<Connection> connection;
  bool release = false;
  {
    const std::lock_guard lock(mutex_);
    connection = connection_;
    for (auto one = held_.begin(); one != held_.end(); ++one) {
      if (one->pending != &call) continue;
      held_.erase(one);
      release = true;
      break;
    }
  }
  if (release) {
    call.release();
  } else if (connection != nullptr) {
    connection->cancel(call);
  }
}

void Peer::grant(Pending& call, std::uint64_t items) noexcept {
  if (const auto to = connection()) to->grant(call, items);
}

std::shared_ptr<Connection> Peer::connection() const {
  const std::lock_guard lock(mutex_);
  return connection_;
}

bool Peer::reachable() const { return connection_ != nullptr && connection_->open() && incarnation_ > ended_; }

void Peer::ending(std::uint32_t incarnation) noexcept {
  const std::lock_guard lock(mutex_);
  ended_ = std::max(ended_, incarnation);
}

void Peer::lost(Pending& call, bool may_have_run) noexcept {
  if (!may_have_run || call.retries()) {
    hold_or_fail({.pending = &call, .info = &call.info()});
    return;
  }
  call.on_error(lost_error(call.info(), call.scope()));
  call.release();
}

Error Peer::lost_error(const MethodInfo& info, const CallScope& scope) const {
  ErrorOrigin origin = place(info, scope);
  origin.may_have_run = true;
  const std::lock_guard lock(mutex_);
  const bool stopped = hub_.run_ends() || (closed_ != nullptr && closed_->kind() == ErrorKind::stopped);
  return Error(stopped ? ErrorKind::stopped : ErrorKind::disconnected, "the node ended before it replied",
               std::move(origin));
}

ErrorOrigin Peer::place(const MethodInfo& info, const CallScope& scope) const {
  return {.node = hub_.name(id_), .method = std::string(info.name), .path = hub_.names(scope.path)};
}

Error Peer::unimplemented(const MethodInfo& info) const {
  return Error(ErrorKind::unimplemented, "the service has no method of this name and these types",
               {.node = hub_.name(id_), .method = std::string(info.name)});
}

Error Peer::late_error(const MethodInfo& info, const CallScope& scope, bool may_have_run) const {
  ErrorOrigin origin = place(info, scope);
  origin.may_have_run = may_have_run;
  return Error(ErrorKind::deadline, may_have_run ? "no reply in time" : "the node was not up in time",
               std::move(origin));
}

}  // namespace lp::internal
