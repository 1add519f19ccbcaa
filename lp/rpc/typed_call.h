#pragma once
// The bodies of calls that know their types: one set for each signature, however many methods have it. Internal to
// lp/rpc and to the tables that lp/program makes.

#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "lp/rpc/call.h"
#include "lp/rpc/future.h"
#include "lp/rpc/hub.h"
#include "lp/rpc/node_core.h"
#include "lp/rpc/once.h"
#include "lp/rpc/peer.h"
#include "lp/wire/codec.h"
#include "lp/wire/envelope.h"
#include "lp/wire/reader.h"
#include "lp/wire/writer.h"

namespace lp::internal {

// Raw storage for what a handler returns.
template <class Raw>
class Slot {
 public:
  Slot() = default;
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;
  void* address() { return storage_; }
  Raw take() {
    Raw& value = *std::launder(reinterpret_cast<Raw*>(storage_));
    struct Destroy {
      Raw& value;
      ~Destroy() { value.~Raw(); }
    } destroy{value};
    return std::move(value);
  }

 private:
  alignas(Raw) std::byte storage_[sizeof(Raw)];
};
template <>
class Slot<void> {
 public:
  void* address() { return nullptr; }
  void take() {}
};

// Method::invoke for one method of S.
template <class S, auto M>
void invoke_method(void* object, void* params, void* result) {
  using Declared = Signature<std::remove_const_t<decltype(M)>>;
  using Raw = typename Declared::Raw;
  auto& arguments = *static_cast<typename Declared::Params*>(params);
  std::apply(
      [&](auto&... argument) {
        if constexpr (std::is_void_v<Raw>) {
          (static_cast<S*>(object)->*M)(std::move(argument)...);
        } else {
          ::new (result) Raw((static_cast<S*>(object)->*M)(std::move(argument)...));
        }
      },
      arguments);
}

template <class... P>
Frames encode_params(std::size_t front, const std::tuple<P...>& params) {
  Writer writer(front);
  std::apply([&](const P&... p) { (writer.value(p), ...); }, params);
  return writer.take();
}

template <class... P>
std::tuple<P...> decode_params(const Frames& frames, std::size_t offset, std::type_identity<std::tuple<P...>>) {
  Reader reader(frames.body.bytes().subspan(offset), frames.arrays);
  std::tuple<P...> params{reader.value<P>()...};
  reader.finish();
  return params;
}

template <class R>
Frames encode_result(const Stored<R>& value) {
  Writer writer(reply_front());
  if constexpr (!std::is_void_v<R>) writer.value(value);
  return writer.take();
}

template <class R>
Stored<R> decode_result(const Frames& frames, std::size_t offset) {
  Reader reader(frames.body.bytes().subspan(offset), frames.arrays);
  if constexpr (std::is_void_v<R>) {
    reader.finish();
    return {};
  } else {
    R value = reader.value<R>();
    reader.finish();
    return value;
  }
}

// A call at its callee: arguments, result and place in the queue in one object.
template <class Raw, class... P>
class TypedCall : public State<ResultOfRaw<Raw>>, public Call {
 public:
  using R = ResultOfRaw<Raw>;
  using Params = std::tuple<P...>;

  TypedCall(const Method* method, const CallScope& scope, const Caller& caller) : Call(method, scope, caller) {}

  bool wanted() const noexcept override { return !this->ready(); }
  void fail_call(const Error& error) noexcept override { this->fail(error); }
  void finish() noexcept override { this->release(); }
  Params& params() { return *params_; }

  void invoke() override {
    Slot<Raw> slot;
    if (keeps_params()) {
      if constexpr (std::is_copy_constructible_v<Params>) {
        Params copy(*params_);
        method_->invoke(node_->object(), &copy, slot.address());
      }
    } else {
      method_->invoke(node_->object(), &*params_, slot.address());
      params_.reset();
    }
    const Ref<State<R>> to = target();
    if constexpr (IsFuture<Raw>::value) {
      Future<R> future = slot.take();
      State<R>& state = *future.state();
      on_ready_anywhere(state, [from = future.state(), to, self = Ref<TypedCall>::share(this)] {
        if (!from->failed()) {
          to->set(std::move(from->value()));
          return;
        }
        const Error error = self->node_->failure(*self->method_, self->scope_, std::make_exception_ptr(from->error()));
        if (to.get() == self.get()) {
          self->settle(error);
        } else {
          to->fail(error);
        }
      });
    } else if constexpr (std::is_void_v<R>) {
      to->set({});
    } else {
      to->set(slot.take());
    }
  }

  void answer(const Frames& reply) noexcept override {
    try {
      this->set(decode_result<R>(reply, reply_front()));
    } catch (...) {
      this->fail(as_error(std::current_exception()));
    }
  }

 protected:
  // What the handler completes: this call; for a `once` method a state of its own, so that the outcome is kept even
  // when the caller no longer waits.
  Ref<State<R>> target() {
    if (!method_->traits.once || caller_.sequence == 0) return Ref<State<R>>::share(this);
    const Ref<State<R>> outcome(new State<R>);
    on_ready_anywhere(*outcome, [outcome = outcome.get(), self = Ref<TypedCall>::share(this)] {
      OnceTable& once = self->node_->once();
      if (outcome->failed()) {
        once.finish(self->caller_, {.error = outcome->error()});
        self->settle(outcome->error());
      } else {
        once.finish(self->caller_, {.frames = encode_result<R>(outcome->value())});
        self->set(std::move(outcome->value()));
      }
    });
    return outcome;
  }

  // Whether another attempt needs the arguments.
  virtual bool keeps_params() const { return false; }

  std::optional<Params> params_;
};

// A call from this process that queues.
template <class Raw, class... P>
class LocalCall final : public TypedCall<Raw, P...> {
 public:
  LocalCall(Peer& peer, const MethodInfo& info, const CallScope& scope, const Caller& caller, std::tuple<P...>&& params)
      : TypedCall<Raw, P...>(nullptr, scope, caller), peer_(peer), info_(info) {
    this->params_.emplace(std::move(params));
  }

  void prepare() override {}
  // Its node ended before the call began: on to the next incarnation.
  bool move_on() noexcept override { return peer_.resend_local(*this, info_); }
  void fail_lost() noexcept override {
    if (keeps_params()) {
      this->retain();
      peer_.resend_local(*this, info_);
    } else {
      this->fail(peer_.lost_error(info_, this->scope_));
    }
  }

 protected:
  bool keeps_params() const override {
    return std::is_copy_constructible_v<std::tuple<P...>> && (info_.traits.idempotent || info_.traits.once);
  }
  Time deadline() const noexcept override { return this->scope_.deadline; }
  Error late() const override { return peer_.late_error(info_, this->scope_, this->node_ != nullptr); }
  void watch_deadline() override { timer_.watch(peer_.hub(), *this, this->scope_.deadline); }
  void completed() noexcept override { timer_.cancel(peer_.hub()); }

 private:
  Peer& peer_;
  const MethodInfo& info_;
  DeadlineTimer timer_;
};

// A call that came as bytes.
template <class Raw, class... P>
class ServedCall final : public TypedCall<Raw, P...> {
 public:
  using R = ResultOfRaw<Raw>;

  ServedCall(const Method& method, Incoming&& message)
      : TypedCall<Raw, P...>(&method, message.scope, message.caller),
        frames_(std::move(message.frames)),
        offset_(message.offset),
        reply_(std::move(message.reply)) {}

  void prepare() override {
    this->params_.emplace(decode_params(frames_, offset_, std::type_identity<std::tuple<P...>>{}));
    frames_ = {};
  }
  bool move_on() noexcept override {
    lost_ = true;
    this->fail(Error(ErrorKind::stopped, "the node ended before the call began"));
    this->release();
    return true;
  }
  void fail_lost() noexcept override {
    lost_ = true;
    began_ = true;
    this->fail(Error(ErrorKind::stopped, "the node ended before it replied"));
  }
  const ReplyTo& reply() const { return reply_; }

 protected:
  void completed() noexcept override {
    if (lost_) {
      send_lost(reply_, began_);
      return;
    }
    if (this->failed()) {
      send_error(reply_, this->error());
      return;
    }
    try {
      send_value(reply_, encode_result<R>(this->value()));
    } catch (...) {
      send_error(reply_, as_error(std::current_exception()));
    }
  }

 private:
  Frames frames_;
  std::size_t offset_;
  ReplyTo reply_;
  bool lost_ = false;   // the node ended first
  bool began_ = false;  // in the middle of it
};

// Method::receive.
template <class Raw, class... P>
void receive_call(NodeCore& node, const Method& method, Incoming&& message) {
  auto* call = new ServedCall<Raw, P...>(method, std::move(message));
  call->arrive(node, method);
  track_served(call->reply(), *call);
  node.accept(call);
}

// Method::run_batch: R m(std::vector<Item>) for the items of many calls.
template <class S, auto M, class R, class Item>
void run_batch_of(NodeCore& node, const Method& method, std::vector<Call*> calls) {
  using Typed = TypedCall<R, Item>;
  std::vector<Item> items;
  std::vector<Typed*> typed;
  for (Call* call : calls) {
    try {
      call->prepare();
      auto* one = static_cast<Typed*>(call);
      items.push_back(std::move(std::get<0>(one->params())));
      typed.push_back(one);
    } catch (...) {
      call->fail_call(node.failure(method, call->scope(), std::current_exception()));
    }
  }
  if (typed.empty()) return;
  try {
    const std::size_t size = items.size();
    std::vector<R> results = (static_cast<S*>(node.object())->*M)(std::move(items));
    if (results.size() != size) {
      throw Error(ErrorKind::failed, "the batched handler got " + std::to_string(size) + " items and returned " +
                                         std::to_string(results.size()) + " results; one each is expected");
    }
    for (std::size_t i = 0; i < size; ++i) typed[i]->set(std::move(results[i]));
  } catch (...) {
    for (Typed* call : typed) call->fail(node.failure(method, call->scope(), std::current_exception()));
  }
}

// A call to another process, at its caller.
template <class R>
class RemoteCall final : public State<R>, public Pending {
 public:
  using Pending::Pending;

  StateBase& state() noexcept override { return *this; }
  void on_value(const Frames& reply, std::size_t offset) noexcept override {
    try {
      this->set(decode_result<R>(reply, offset));
    } catch (...) {
      this->fail(as_error(std::current_exception()));
    }
  }

 protected:
  Time deadline() const noexcept override { return scope().deadline; }
  Error late() const override { return peer().late_error(info(), scope(), sent); }
  void watch_deadline() override { timer_.watch(peer().hub(), *this, scope().deadline); }
  void completed() noexcept override { timer_.cancel(peer().hub()); }
  void cancelled() noexcept override { peer().forget(*this); }

 private:
  DeadlineTimer timer_;
};

}  // namespace lp::internal
