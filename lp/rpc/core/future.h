#pragma once
// A value that arrives once. A Future belongs to one consumer, who may wait for it (get, get_for), attach a
// continuation (then), or co_await it. A Promise is its other end. Any thread may complete a Promise.
//
// A continuation, and the rest of a coroutine, runs in the turn of the node whose code attached it, and inherits the
// time left of that code's deadline. Outside all nodes it runs in the thread that completes the promise.
//
// A handler that returns a Future holds neither turn nor thread while it is not ready:
//
//   lp::Future<Params> pull() {  // ready when another handler has called parameters_.set_value(...)
//     return parameters_.future();
//   }

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/function.h"
#include "lp/base/recycle.h"
#include "lp/rpc/core/call_context.h"
#include "lp/rpc/core/wait_chain.h"

namespace lp {

template <class T>
class Future;
template <class T>
class Promise;

namespace rpc {

class Connection;
class Continuation;
template <class T>
class NextItem;

// Room for one value of any type.
template <class T>
class Slot {
 public:
  Slot() {}
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;
  ~Slot() { reset(); }

  void* address() { return &value_; }
  void filled() { full_ = true; }  // a T was made at address()
  template <class... Args>
  void emplace(Args&&... args) {
    ::new (address()) T(std::forward<Args>(args)...);
    full_ = true;
  }
  T& get() { return value_; }
  void reset() {
    if (std::exchange(full_, false)) value_.~T();
  }

 private:
  union {
    T value_;
  };
  bool full_ = false;
};

template <class T>
using Stored = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

// The shared part of a promise and its future, and of a call and its reply. Only the slot depends on the value's type,
// so that calls of many types share their code. Reference-counted by hand, because a call, its arguments and its result
// are one object.
class StateBase : public Recycled {
 public:
  StateBase() = default;
  StateBase(const StateBase&) = delete;
  StateBase& operator=(const StateBase&) = delete;

  void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept;
  // Whether there is another reference, too.
  bool shared() const noexcept { return references_.load(std::memory_order_relaxed) > 1; }

  bool ready() const noexcept { return phase_.load(std::memory_order_acquire) == kReady; }
  // Returns whether it is complete, or a thread completes it now. Synchronizes with the stores that may_have_run()
  // reads: see cancel().
  bool claimed() const noexcept { return phase_.load() != kPending; }
  // Like ready(), for polling: also asks the carrier to deliver without a waiting thread.
  bool poll() noexcept {
    if (ready()) return true;
    want();
    return ready();
  }
  bool failed() const noexcept { return error_ != nullptr; }  // valid when ready
  const Error& error() const { return *error_; }              // valid when ready and failed

  // Completes with a value. Returns false when the state was complete already.
  template <class T>
  bool set(Stored<T> value) noexcept {
    if (!claim()) return false;
    slot<T>().emplace(std::move(value));
    publish();
    return true;
  }
  // The value, valid when ready and not failed.
  template <class T>
  Stored<T>& value() {
    return slot<T>().get();
  }
  // Takes the value of a ready state, once. Throws its error.
  template <class T>
  T take() {
    if (failed()) throw Error(error());
    if constexpr (!std::is_void_v<T>) return std::move(value<T>());
  }

  // Waits until ready. Throws `deadline` when the call's own time or that of the current frame is over, and `stopped`
  // when the node that waits is asked to stop.
  void wait();
  // Like wait(), for a call that is made: waits until it is on its way, or ready.
  void wait_on_its_way();
  // Waits at most until `time`. Returns false when the state is not ready then. Throws like wait().
  bool wait_until(Time time) { return wait_until(time, Stage::ready); }

  // Completes with an error. Returns false when the state was complete already.
  bool fail(const Error& error) noexcept;
  // Notes that the consumer no longer wants the value: completes with `error` and notifies the code that works on it.
  void cancel(const Error& error) noexcept;
  // Returns the error for a passed deadline.
  virtual Error late() const;
  // The callee and method of a call.
  virtual std::optional<CallName> call_name() const { return std::nullopt; }
  // Adds what keeps a call from its reply, as far as this process knows.
  virtual void add_obstacles(WaitChain&) const {}
  // Remembers them until the deadline.
  void note_obstacles(WaitChain all);
  // Ends the state at its deadline.
  void expire() noexcept { cancel(late()); }
  // Notes that the consumer takes this many more items. Streams only.
  virtual void grant(std::uint64_t) noexcept {}
  // Notes that the process of the caller is gone. A stream ends, since nobody reads it any more. Other calls go on:
  // their caller may ask for the result again.
  virtual void caller_ended() noexcept {}

  // Runs `continuation` when the state is ready, at once if it is.
  void on_ready(std::unique_ptr<Continuation> continuation);

  template <class T>
  Slot<Stored<T>>& slot() noexcept {
    return *static_cast<Slot<Stored<T>>*>(slot_address());
  }

 protected:
  virtual ~StateBase();

  // Completion has two steps: the thread whose claim() succeeds stores the value, then publishes it.
  bool claim() noexcept;
  void publish() noexcept;
  void publish_error(const Error& error) noexcept;

  virtual void* slot_address() noexcept = 0;                               // address of a Slot<Stored<T>>
  virtual Time deadline() const noexcept { return kNever; }                // time at which a call ends by itself
  virtual std::shared_ptr<Connection> carrier() const { return nullptr; }  // connection that brings the value, if any
  virtual bool may_have_run() const noexcept { return false; }             // whether the method of a call may have run
  virtual bool on_its_way() const noexcept { return true; }                // whether a call is on its way
  void wake() noexcept;                                                    // the waiter checks again
  virtual void want() noexcept {}       // the value is wanted at once, and no thread reads the carrier for it
  virtual void watch_deadline() {}      // somebody waits without a thread: set a timer
  virtual void count() noexcept {}      // called before the state is published
  virtual void completed() noexcept {}  // called after the state is published
  virtual void cancelled() noexcept {}  // called when the consumer gave up
  virtual bool is_call() const noexcept { return false; }
  virtual void inquire();  // for a call: asks what keeps it from its reply
  // The obstacles up to the node that makes the call. They are those that were noted, where those of this moment do not
  // name the wait: at the deadline, all end at once.
  WaitChain obstacles_at_deadline(std::uint32_t caller) const;
  void add_noted(WaitChain& all) const;

  mutable std::mutex mutex_;

 private:
  template <class T>
  friend class NextItem;  // arrives by the carrier of another state
  enum : std::uint32_t { kPending, kClaimed, kReady };

  enum class Stage : std::uint8_t { on_its_way, ready };
  bool has_come(Stage stage) const noexcept { return ready() || (stage == Stage::on_its_way && on_its_way()); }
  bool wait_until(Time time, Stage stage);
  static WaitingThread::For what_of(Stage stage);
  void prefer_stop() const;

  std::atomic<std::uint32_t> references_ = 1;
  std::atomic<std::uint32_t> phase_ = kPending;
  Event* waiter_ = nullptr;
  Continuation* continuations_ = nullptr;  // newest first
  std::unique_ptr<Error> error_;
  std::unique_ptr<WaitChain> obstacles_;
};

template <class S>
class Ref {  // owns one reference
 public:
  Ref() = default;
  explicit Ref(S* adopted) : state_(adopted) {}
  Ref(const Ref& other) : state_(other.state_) {
    if (state_ != nullptr) state_->retain();
  }
  Ref(Ref&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~Ref() {
    if (state_ != nullptr) state_->release();
  }
  static Ref share(S* state) {
    state->retain();
    return Ref(state);
  }

  S* operator->() const { return state_; }
  S& operator*() const { return *state_; }
  S* get() const { return state_; }
  S* take() { return std::exchange(state_, nullptr); }
  explicit operator bool() const { return state_ != nullptr; }

 private:
  S* state_ = nullptr;
};

template <class T>
class State final : public StateBase {
 private:
  void* slot_address() noexcept override { return &slot_; }
  Slot<Stored<T>> slot_;
};

// The continuation of a ready state. It runs once, in the turn of the node that made it, or is destroyed without
// running when that node is gone.
class Continuation {
 public:
  struct Anywhere {
  };  // runs in the thread that completes, in nobody's turn: for lp's own code, which calls no user code

  Continuation();
  explicit Continuation(Anywhere) {}
  Continuation(const Continuation&) = delete;
  Continuation& operator=(const Continuation&) = delete;
  virtual ~Continuation() = default;

  virtual void run() noexcept = 0;

  // Runs `continuation`, now or later, where it belongs.
  static void dispatch(std::unique_ptr<Continuation> continuation) noexcept;

 private:
  friend class StateBase;
  friend class ContinuationTask;
  ServiceInstance* node_ = nullptr;
  CallScope scope_{};
  Continuation* next_ = nullptr;
};

template <class F>
class PlainContinuation final : public Continuation {
 public:
  explicit PlainContinuation(F f) : f_(std::move(f)) {}
  PlainContinuation(Anywhere anywhere, F f) : Continuation(anywhere), f_(std::move(f)) {}
  void run() noexcept override { f_(); }

 private:
  F f_;
};

// Resumes a coroutine. If it is destroyed before that, it destroys the coroutine's frame.
class Resumption final : public Continuation {
 public:
  explicit Resumption(std::coroutine_handle<> handle) : handle_(handle) {}
  ~Resumption() override {
    if (handle_) handle_.destroy();
  }
  void run() noexcept override { std::exchange(handle_, nullptr).resume(); }

 private:
  std::coroutine_handle<> handle_;
};

template <class T>
class CoroutinePromise;

template <class T>
struct IsFuture : std::false_type {};
template <class T>
struct IsFuture<Future<T>> : std::true_type {};

Error abandoned_promise();
// Returns the same error for a call whose method may have run.
Error with_may_have_run(const Error& error);

}  // namespace rpc

template <class T>
class [[nodiscard]] Future {
 public:
  using value_type = T;
  using promise_type = rpc::CoroutinePromise<T>;

  Future() = default;  // valid() is false
  Future(Future&& other) noexcept = default;
  Future& operator=(Future&& other) noexcept = default;
  Future(const Future&) = delete;
  Future& operator=(const Future&) = delete;

  bool valid() const { return static_cast<bool>(state_); }
  bool ready() const { return state_->poll(); }

  // Waits, and returns the value or throws the Error. The wait ends at the call's deadline, at that of the current
  // handler, and when the current node is asked to stop. Leaves the future invalid.
  T get() {
    state_->wait();
    return std::exchange(state_, {})->template take<T>();
  }

  // Waits at most `timeout`. Returns nothing when the future is not ready then; it stays valid.
  std::optional<rpc::Stored<T>> get_for(Duration timeout) {
    if (!wait_for(timeout)) return std::nullopt;
    if constexpr (std::is_void_v<T>) {
      std::exchange(state_, {})->template take<T>();
      return std::monostate{};
    } else {
      return std::exchange(state_, {})->template take<T>();
    }
  }

  // Waits at most `timeout`, and returns whether the future is ready then. It stays valid.
  bool wait_for(Duration timeout) { return state_->wait_until(after(timeout)); }

  // Calls f(value) when this is ready, or f(Future) if f takes a Future because it handles errors too. The result or
  // exception of f completes the future that then() returns; if f returns a Future, that is waited for. Leaves this
  // future invalid.
  template <class F>
  auto then(F f) &&;

  // Notifies the code that works on the value that nobody wants it: a call that has not begun does not run.
  void cancel() {
    if (state_) state_->cancel(Error(ErrorKind::stopped, "cancelled by the caller"));
  }

  // For named futures only: g++ 12 destroys a temporary operand twice.
  auto operator co_await() & noexcept;
  template <bool kNamed = false>
  auto operator co_await() && noexcept;

  // For lp's own code.
  explicit Future(rpc::Ref<rpc::StateBase> state) : state_(std::move(state)) {}
  const rpc::Ref<rpc::StateBase>& state() const { return state_; }

 private:
  rpc::Ref<rpc::StateBase> state_;
};

// The end that completes a Future. If it is destroyed without completing it, the future fails.
template <class T>
class Promise {
 public:
  Promise() : state_(new rpc::State<T>) {}
  Promise(Promise&& other) noexcept = default;
  Promise& operator=(Promise&& other) noexcept {
    if (this != &other) {
      abandon();
      state_ = std::move(other.state_);
    }
    return *this;
  }
  ~Promise() { abandon(); }

  // There is one future for each promise.
  Future<T> future() { return Future<T>(state_); }

  // Returns false when the future is destroyed, and with it all its continuations.
  bool wanted() const { return state_->shared(); }

  void set_value(rpc::Stored<T> value) { state_->template set<T>(std::move(value)); }
  void set_value() requires std::is_void_v<T> { state_->template set<T>({}); }
  void set_error(const Error& error) { state_->fail(error); }
  void set_exception(std::exception_ptr exception) { state_->fail(as_error(std::move(exception))); }

  // Leaves the completion of the future to other code.
  void detach() { state_ = {}; }

 private:
  void abandon() {
    if (state_ && !state_->ready()) state_->fail(rpc::abandoned_promise());
  }
  rpc::Ref<rpc::StateBase> state_;
};

// Returns a future that is ready.
template <class T>
Future<std::decay_t<T>> ready(T&& value) {
  Promise<std::decay_t<T>> promise;
  promise.set_value(std::forward<T>(value));
  return promise.future();
}
inline Future<void> ready() {
  Promise<void> promise;
  promise.set_value();
  return promise.future();
}

// Returns a future that is ready when all are: with their values in the order given, or the first failure (in time),
// which cancels the rest.
template <class T>
Future<std::vector<rpc::Stored<T>>> when_all(std::vector<Future<T>> futures);

// Returns a future that is ready with the first success: its position and value. It fails when all have failed, with
// the last failure. The rest is cancelled.
template <class T>
Future<std::pair<std::size_t, rpc::Stored<T>>> when_any(std::vector<Future<T>> futures);

// Returns a future that is ready with the position of the first ready one, whether it has a value or an error. The
// futures stay unchanged, and keep their owners.
template <class T>
Future<std::size_t> when_ready(std::span<const Future<T>* const> futures);

}  // namespace lp

#include "lp/rpc/core/future_inl.h"  // IWYU pragma: export
