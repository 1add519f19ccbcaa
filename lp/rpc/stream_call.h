#pragma once
// The bodies of streaming calls; typed_call.h has those of other calls. Internal to lp/rpc and to the tables that
// lp/program makes.

#include <atomic>
#include <coroutine>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>

#include "lp/rpc/core/edge.h"
#include "lp/rpc/stream.h"
#include "lp/rpc/typed_call.h"

namespace lp::rpc {

// A streaming call at its callee. As a call it runs once, to start the handler; afterwards it is the destination of the
// items.
template <class T>
class StreamCall final : public ServerCall, public StreamSink<T> {
 public:
  StreamCall(const Outgoing& call, void* arguments, Duration timeout, std::shared_ptr<StreamQueue<T>> queue)
      : ServerCall(kResultOps<void>, call, arguments, this + 1), timeout_(timeout), queue_(std::move(queue)) {}
  StreamCall(ServiceInstance& node, const Method& method, Incoming&& message)
      : ServerCall(kResultOps<void>, node, method, std::move(message), this + 1), timeout_(until(scope().deadline)) {}

  bool put(T item, std::coroutine_handle<> handler) override {
    deliver(std::move(item));
    {
      const std::lock_guard lock(mutex_);
      const bool stopping = node().stopping();
      if (room_ > 1 && !ready() && !stopping) {
        --room_;
        return true;
      }
      room_ = 0;
      if (!ready() || stopping) {
        paused_ = handler;
        pauses_.store(true, std::memory_order_relaxed);
        return false;
      }
    }
    // The reader is gone: the handler ends in its own turn, not inside its own yield.
    go_on(handler);
    return false;
  }
  bool paused() const noexcept override { return pauses_.load(std::memory_order_relaxed); }
  bool wanted() const noexcept override { return !ready(); }
  void end() noexcept override {
    node().closed(*this);
    set<void>({});
    release();
  }
  void fail_stream(const Error& error) noexcept override {
    node().closed(*this);
    settle(node().failure(method(), scope(), std::make_exception_ptr(error)));
    release();
  }

  void grant(std::uint64_t items) noexcept override {
    ServiceInstance& service = node();
    std::coroutine_handle<> handler;
    {
      const std::lock_guard lock(mutex_);
      room_ += items;
      handler = std::exchange(paused_, nullptr);
      pauses_.store(false, std::memory_order_relaxed);
      if (handler) service.began();  // a node that stops waits until the handler's frame is destroyed
    }
    if (!handler) return;
    go_on(handler);
    service.ended();
  }
  void caller_ended() noexcept override { cancel(Error(ErrorKind::stopped, "its reader has ended")); }

 protected:
  void* slot_address() noexcept override { return &result_; }

  void invoke() override {
    Slot<Stream<T>> stream;
    method().invoke(node().object(), arguments(), &stream);
    drop_arguments();
    retain();  // reference of the handler; given back when it ends
    node().opened(*this);
    stream.get().begin_into(*this).resume();
  }

  void completed() noexcept override {
    if (queue_ != nullptr) queue_->end(failed() ? std::optional(error()) : std::nullopt);
    ServerCall::completed();
  }
  void cancelled() noexcept override { grant(0); }
  // Each item has its own time, which the reader watches.
  Time deadline() const noexcept override { return kNever; }

 private:
  // Resumes the handler in its turn, or ends it when nobody reads any more.
  class Resume final : public Task {
   public:
    Resume(StreamCall& call, std::coroutine_handle<> handler)
        : Task(call.scope().chain), call_(Ref<StreamCall>::share(&call)), handler_(handler) {}
    void run() noexcept override {
      if (call_->ready()) {
        handler_.destroy();
      } else {
        CallContext context{.node = &call_->node(),
                            .deadline = after(call_->timeout_),
                            .chain = call_->scope().chain,
                            .span = call_->scope().span.id,
                            .holds_turn = true,
                            .path = &call_->scope().path};
        const CallContextScope scope(context);
        call_->node().turn().begin_work(call_->method().name, call_->caller().node, about_now());
        handler_.resume();
      }
      delete this;
    }
    void refuse(const Error& error) noexcept override {
      call_->settle(error);
      handler_.destroy();
      delete this;
    }

   private:
    Ref<StreamCall> call_;
    std::coroutine_handle<> handler_;
  };

  void go_on(std::coroutine_handle<> handler) { node().turn().post(new Resume(*this, handler)); }

  void deliver(T item) noexcept {
    if (queue_ != nullptr) {
      queue_->put(std::move(item));
      return;
    }
    try {
      send_item(reply(), encode_value<T>(item, receiver_of(reply())));
    } catch (...) {
      fail(as_error(std::current_exception()));
    }
  }

  const Duration timeout_;
  std::shared_ptr<StreamQueue<T>> queue_;  // shared with the reader; null when the reader is elsewhere
  Slot<std::monostate> result_;
  std::mutex mutex_;
  std::uint64_t room_ = kStreamWindow;
  std::coroutine_handle<> paused_;
  std::atomic<bool> pauses_ = false;  // whether there is a handler in paused_
};

// Method::receive for a streaming method.
template <class T>
ServerCall* receive_stream(ServiceInstance& node, const Method& method, Incoming&& message) {
  return new (*method.arguments) StreamCall<T>(node, method, std::move(message));
}

// A streaming call to another process, at its caller.
template <class T>
class RemoteStream final : public ClientCall {
 public:
  RemoteStream(const Outgoing& outgoing, std::shared_ptr<StreamQueue<T>> queue)
      : ClientCall(kResultOps<void>, outgoing, /*one_way=*/false), queue_(std::move(queue)) {}

  void on_item(const Message& reply, std::size_t offset) noexcept override {
    counted.received(reply.size());
    try {
      Slot<T> item;
      decode_value<T>(item, reply, offset);
      queue_->put(std::move(item.get()));
    } catch (...) {
      fail(as_error(std::current_exception()));
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
    if (served && failed()) served->cancel(error());  // no effect if the error came from there
    queue_->end(failed() ? std::optional(error()) : std::nullopt);
    ClientCall::completed();
  }
  void* slot_address() noexcept override { return &result_; }
  Time deadline() const noexcept override { return kNever; }

 private:
  Ref<StateBase> served_here(bool forget = false) {
    const std::lock_guard lock(mutex_);
    return forget ? std::exchange(served_, {}) : served_;
  }

  std::shared_ptr<StreamQueue<T>> queue_;  // shared with the reader
  Slot<std::monostate> result_;
  std::mutex mutex_;
  Ref<StateBase> served_;  // the call itself, when it is served in this process
};

template <class T>
StreamReader<T> start_stream(Edge& edge, const MethodInfo& info, const CallOptions& options, void* arguments) {
  const Outgoing outgoing = outgoing_call(edge, info, options);
  const Duration timeout = edge.process().timeout(options.timeout, info);
  CallOptions at_once = options;
  at_once.at_once = true;  // the call waits for items only
  auto queue = std::make_shared<StreamQueue<T>>();
  Ref<StateBase> state;
  if (edge.goes_as_bytes()) {
    auto* call = new RemoteStream<T>(outgoing, queue);
    state = Ref<StateBase>(call);
    call->encode(arguments);
    start_as_bytes(*call, outgoing, at_once);
  } else {
    auto* call = new (*info.arguments) StreamCall<T>(outgoing, arguments, timeout, queue);
    state = Ref<StateBase>::share(call);
    start_here(Ref<ServerCall>(call), outgoing, at_once);
  }
  return StreamReader<T>(std::move(queue),
                         {.call = state,
                          .grant = [state](std::uint64_t items) { state->grant(items); },
                          .cancel = [state] { state->cancel(Error(ErrorKind::stopped, "the reader has left")); },
                          .timeout = timeout});
}

}  // namespace lp::rpc
