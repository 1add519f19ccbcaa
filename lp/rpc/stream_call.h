#pragma once
// The bodies of streaming calls, as typed_call.h has those of others. Internal to lp/rpc and to the tables that
// lp/program makes.

#include <coroutine>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>

#include "lp/rpc/edge.h"
#include "lp/rpc/stream.h"
#include "lp/rpc/typed_call.h"

namespace lp::internal {

// A streaming call at its callee. As a call it runs once, to start the handler; afterwards it is where the items go.
template <class T, class... P>
class StreamCall : public State<void>, public Call, public StreamSink<T> {
 public:
  StreamCall(const Method* method, const CallScope& scope, const Caller& caller, Duration timeout)
      : Call(method, scope, caller), timeout_(timeout) {}

  bool wanted() const noexcept override { return !ready(); }
  void fail_call(const Error& error) noexcept override { State<void>::fail(error); }
  void fail_lost() noexcept override { fail_call(node_->stopped_error()); }
  void answer(const Frames&) noexcept override {}
  void finish() noexcept override { release(); }

  void invoke() override {
    Slot<Stream<T>> slot;
    method_->invoke(node_->object(), &*params_, slot.address());
    params_.reset();
    retain();  // the handler's; given back when it ends
    slot.take().begin_into(*this).resume();
  }

  bool put(T item, std::coroutine_handle<> handler) override {
    deliver(std::move(item));
    const std::lock_guard lock(mutex_);
    if (room_ > 1 && !ready()) {
      --room_;
      return true;
    }
    room_ = 0;
    if (ready()) {
      // The reader is gone: the handler ends in its own turn, not inside its own yield.
      node_->turn().post(new Resume(*this, handler));
    } else {
      paused_ = handler;
    }
    return false;
  }
  void end() noexcept override {
    set({});
    release();
  }
  void fail(const Error& error) noexcept override {
    State<void>::fail(node_->failure(*method_, scope_, std::make_exception_ptr(error)));
    release();
  }

  void grant(std::uint64_t items) noexcept override {
    std::coroutine_handle<> handler;
    {
      const std::lock_guard lock(mutex_);
      room_ += items;
      handler = std::exchange(paused_, nullptr);
    }
    if (handler) node_->turn().post(new Resume(*this, handler));
  }

 protected:
  virtual void deliver(T item) noexcept = 0;
  void cancelled() noexcept override { grant(0); }

  std::optional<std::tuple<P...>> params_;

 private:
  // The handler goes on in its turn; or ends, when nobody reads any more.
  class Resume final : public Task {
   public:
    Resume(StreamCall& call, std::coroutine_handle<> handler)
        : Task(call.scope_.chain), call_(Ref<StreamCall>::share(&call)), handler_(handler) {}
    void run() noexcept override {
      if (call_->ready()) {
        handler_.destroy();
      } else {
        Frame frame{.node = call_->node_,
                    .deadline = after(call_->timeout_),
                    .chain = call_->scope_.chain,
                    .holds_turn = true,
                    .path = &call_->scope_.path};
        const FrameScope scope(frame);
        handler_.resume();
      }
      delete this;
    }
    void refuse(const Error& error) noexcept override {
      call_->State<void>::fail(error);
      handler_.destroy();
      delete this;
    }

   private:
    Ref<StreamCall> call_;
    std::coroutine_handle<> handler_;
  };

  const Duration timeout_;
  std::mutex mutex_;
  std::uint64_t room_ = kStreamWindow;
  std::coroutine_handle<> paused_;
};

// A streaming call from this process.
template <class T, class... P>
class LocalStream final : public StreamCall<T, P...> {
 public:
  LocalStream(std::shared_ptr<StreamQueue<T>> queue, const CallScope& scope, const Caller& caller, Duration timeout,
              std::tuple<P...>&& params)
      : StreamCall<T, P...>(nullptr, scope, caller, timeout), queue_(std::move(queue)) {
    this->params_.emplace(std::move(params));
  }
  void prepare() override {}

 protected:
  void deliver(T item) noexcept override { queue_->put(std::move(item)); }
  void completed() noexcept override { queue_->end(this->failed() ? std::optional(this->error()) : std::nullopt); }

 private:
  std::shared_ptr<StreamQueue<T>> queue_;
};

// A streaming call that came as bytes.
template <class T, class... P>
class ServedStream final : public StreamCall<T, P...> {
 public:
  ServedStream(const Method& method, Incoming&& message)
      : StreamCall<T, P...>(&method, message.scope, message.caller, until(message.scope.deadline)),
        frames_(std::move(message.frames)),
        offset_(message.offset),
        reply_(std::move(message.reply)) {}
  void prepare() override {
    this->params_.emplace(decode_params(frames_, offset_, std::type_identity<std::tuple<P...>>{}));
    frames_ = {};
  }
  const ReplyTo& reply() const { return reply_; }

 protected:
  void deliver(T item) noexcept override {
    try {
      send_item(reply_, encode_result<T>(item));
    } catch (...) {
      this->fail_call(as_error(std::current_exception()));
    }
  }
  void completed() noexcept override {
    if (this->failed()) {
      send_error(reply_, this->error());
    } else {
      send_value(reply_, encode_result<void>({}));
    }
  }

 private:
  Frames frames_;
  std::size_t offset_;
  ReplyTo reply_;
};

// Method::receive for a streaming method.
template <class T, class... P>
void receive_stream(NodeCore& node, const Method& method, Incoming&& message) {
  auto* call = new ServedStream<T, P...>(method, std::move(message));
  call->arrive(node, method);
  track_served(call->reply(), *call);
  node.accept(call);
}

// A streaming call to another process, at its caller.
template <class T>
class RemoteStream final : public State<void>, public Pending {
 public:
  RemoteStream(std::shared_ptr<StreamQueue<T>> queue, Peer& peer, const MethodInfo& info, const CallScope& scope,
               const Caller& caller)
      : Pending(peer, info, scope, caller, /*one_way=*/false), queue_(std::move(queue)) {}

  StateBase& state() noexcept override { return *this; }
  void on_value(const Frames&, std::size_t) noexcept override { this->set({}); }
  void on_item(const Frames& message, std::size_t offset) noexcept override {
    try {
      queue_->put(decode_result<T>(message, offset));
    } catch (...) {
      this->fail(as_error(std::current_exception()));
    }
  }
  void on_served(StateBase& served) noexcept override {
    const std::lock_guard lock(mutex_);
    if (!ready()) served_ = Ref<StateBase>::share(&served);
  }
  void grant(std::uint64_t items) noexcept override {
    if (const Ref<StateBase> served = served_here(); served) {
      served->grant(items);
    } else {
      peer().grant(*this, items);
    }
  }

 protected:
  void completed() noexcept override {
    const Ref<StateBase> served = served_here(/*forget=*/true);
    if (served && failed()) served->cancel(error());  // no effect where the error came from there
    queue_->end(this->failed() ? std::optional(this->error()) : std::nullopt);
  }
  void cancelled() noexcept override { peer().forget(*this); }

 private:
  Ref<StateBase> served_here(bool forget = false) {
    const std::lock_guard lock(mutex_);
    return forget ? std::exchange(served_, {}) : served_;
  }

  std::shared_ptr<StreamQueue<T>> queue_;
  std::mutex mutex_;
  Ref<StateBase> served_;  // the call itself, when it is served in this process
};

template <class T, class... P>
StreamReader<T> start_stream(Edge& edge, const MethodInfo& info, Duration said, std::tuple<P...>&& params) {
  const Duration timeout = edge.hub().timeout(said, info);
  const CallScope scope = scope_for_call(current_frame(), timeout);
  const Caller caller = edge.caller(info, 0);
  auto queue = std::make_shared<StreamQueue<T>>();
  Ref<StateBase> state;
  if (edge.goes_as_bytes()) {
    auto* call = new RemoteStream<T>(queue, edge.peer(), info, scope, caller);
    state = Ref<StateBase>::share(call);
    call->frames = encode_params(Pending::front(scope.path), params);
    edge.peer().send(*call);
  } else {
    auto* call = new LocalStream<T, P...>(queue, scope, caller, timeout, std::move(params));
    state = Ref<StateBase>::share(call);
    edge.peer().accept_local(*call, info);
  }
  return StreamReader<T>(std::move(queue),
                         {.call = state,
                          .grant = [state](std::uint64_t items) { state->grant(items); },
                          .cancel = [state] { state->cancel(Error(ErrorKind::stopped, "the reader has left")); },
                          .timeout = timeout});
}

}  // namespace lp::internal
