#pragma once
// The bodies of future.h's templates. Included by future.h only; the same owners and threads.

#include <atomic>
#include <exception>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "lp/rpc/core/future.h"

namespace lp {
namespace rpc {

template <class F>
void on_ready_anywhere(StateBase& state, F f) {
  state.on_ready(std::make_unique<PlainContinuation<F>>(Continuation::Anywhere{}, std::move(f)));
}

// Completes `to` when `from` is complete.
template <class T>
void forward(Future<T> from, Ref<StateBase> to) {
  StateBase& state = *from.state();
  on_ready_anywhere(state, [from = from.state(), to = std::move(to)] {
    if (from->failed()) {
      to->fail(from->error());
    } else {
      to->set<T>(std::move(from->template value<T>()));
    }
  });
}

template <class R>
struct Unwrap {
  using type = R;
};
template <class R>
struct Unwrap<Future<R>> {
  using type = R;
};

// Runs f and completes `to` with its result or exception.
template <class R, class F>
void run_into(const Ref<StateBase>& to, F&& f) noexcept {
  try {
    using Returned = std::invoke_result_t<F>;
    if constexpr (IsFuture<Returned>::value) {
      forward<R>(f(), to);
    } else if constexpr (std::is_void_v<Returned>) {
      f();
      to->set<R>({});
    } else {
      to->set<R>(f());
    }
  } catch (...) {
    to->fail(as_error(std::current_exception()));
  }
}

// Passes a continuation the input that it takes: the whole future, the value, or nothing.
template <class F, class T>
decltype(auto) call_continuation(F& f, Future<T>&& from) {
  if constexpr (std::is_invocable_v<F&, Future<T>>) {
    return f(std::move(from));
  } else if constexpr (std::is_void_v<T>) {
    from.get();
    return f();
  } else {
    return f(from.get());
  }
}

// The promise of a coroutine that returns Future<T>. The coroutine starts at once, and its frame is destroyed when it
// ends.
template <class T>
class CoroutinePromiseBase {
 public:
  Future<T> get_return_object() { return promise_.future(); }
  std::suspend_never initial_suspend() noexcept { return {}; }
  std::suspend_never final_suspend() noexcept { return {}; }
  void unhandled_exception() { promise_.set_exception(std::current_exception()); }
  // The code that began the coroutine goes on in its own span.
  void suspend() noexcept { begun_in_.restore(); }

 protected:
  Promise<T> promise_;

 private:
  const SpanOfCode begun_in_;
};

template <class T>
class CoroutinePromise : public CoroutinePromiseBase<T> {
 public:
  void return_value(T value) { this->promise_.set_value(std::move(value)); }
};

template <>
class CoroutinePromise<void> : public CoroutinePromiseBase<void> {
 public:
  void return_void() { promise_.set_value(); }
};

template <class T>
class Awaiter {
 public:
  explicit Awaiter(Future<T>& future) : future_(future) {}
  bool await_ready() const noexcept { return future_.ready(); }
  template <class P>
  void await_suspend(std::coroutine_handle<P> handle) {
    // Another thread may resume, and end, the coroutine before on_ready returns. The state must outlive that.
    const Ref<StateBase> state = future_.state();
    auto resumption = std::make_unique<Resumption>(handle);
    if constexpr (requires(P & promise) { promise.suspend(); }) handle.promise().suspend();
    state->on_ready(std::move(resumption));
  }
  T await_resume() { return future_.get(); }

 private:
  Future<T>& future_;
};

}  // namespace rpc

template <class T>
auto Future<T>::operator co_await() & noexcept {
  return rpc::Awaiter<T>(*this);
}
template <class T>
template <bool kNamed>
auto Future<T>::operator co_await() && noexcept {
  static_assert(kNamed, "lp: co_await takes a future that has a name: `auto later = ...; co_await later`");
  return rpc::Awaiter<T>(*this);
}

template <class T>
template <class F>
auto Future<T>::then(F f) && {
  using Returned = decltype(rpc::call_continuation(f, std::declval<Future<T>>()));
  using R = typename rpc::Unwrap<Returned>::type;
  Promise<R> promise;
  Future<R> result = promise.future();
  rpc::Ref<rpc::StateBase> state = std::move(state_);
  auto body = [state, f = std::move(f), promise = std::move(promise), to = result.state()]() mutable {
    rpc::run_into<R>(to, [&]() -> Returned { return rpc::call_continuation(f, Future<T>(std::move(state))); });
    if constexpr (rpc::IsFuture<Returned>::value) promise.detach();
  };
  state->on_ready(std::make_unique<rpc::PlainContinuation<decltype(body)>>(std::move(body)));
  return result;
}

namespace rpc {

// Gathers the results of when_all.
template <class T>
struct Gathering {
  std::vector<Future<T>> futures;
  Promise<std::vector<Stored<T>>> promise;
  std::atomic<std::size_t> missing;
  std::atomic<bool> failed = false;

  explicit Gathering(std::vector<Future<T>> all) : futures(std::move(all)), missing(futures.size()) {}

  void one_ready(std::size_t i) {
    StateBase& state = *futures[i].state();
    if (state.failed() && !failed.exchange(true)) {
      promise.set_error(state.error());
      for (Future<T>& other : futures) other.cancel();
    }
    if (missing.fetch_sub(1) != 1 || failed) return;
    std::vector<Stored<T>> values;
    values.reserve(futures.size());
    for (Future<T>& future : futures) values.push_back(std::move(future.state()->template value<T>()));
    promise.set_value(std::move(values));
  }
};

// Finds the first success for when_any.
template <class T>
struct Race {
  std::vector<Future<T>> futures;
  Promise<std::pair<std::size_t, Stored<T>>> promise;
  std::atomic<std::size_t> missing;
  std::atomic<bool> won = false;

  explicit Race(std::vector<Future<T>> all) : futures(std::move(all)), missing(futures.size()) {}

  void one_ready(std::size_t i) {
    StateBase& state = *futures[i].state();
    if (!state.failed() && !won.exchange(true)) {
      promise.set_value({i, std::move(state.value<T>())});
      for (Future<T>& other : futures) other.cancel();
    }
    if (missing.fetch_sub(1) == 1 && !won) promise.set_error(state.error());
  }
};

// The group is shared by the continuations of its futures: the last one that runs ends it.
template <class Group>
void watch_all(const std::shared_ptr<Group>& group) {
  for (std::size_t i = 0; i < group->futures.size(); ++i) {
    on_ready_anywhere(*group->futures[i].state(), [group, i] { group->one_ready(i); });
  }
}

}  // namespace rpc

template <class T>
Future<std::vector<rpc::Stored<T>>> when_all(std::vector<Future<T>> futures) {
  if (futures.empty()) return ready(std::vector<rpc::Stored<T>>());
  const auto group = std::make_shared<rpc::Gathering<T>>(std::move(futures));
  auto result = group->promise.future();
  rpc::watch_all(group);
  return result;
}

template <class T>
Future<std::pair<std::size_t, rpc::Stored<T>>> when_any(std::vector<Future<T>> futures) {
  if (futures.empty()) throw Error(ErrorKind::failed, "when_any of no futures has no result");
  const auto group = std::make_shared<rpc::Race<T>>(std::move(futures));
  auto result = group->promise.future();
  rpc::watch_all(group);
  return result;
}

template <class T>
Future<std::size_t> when_ready(std::span<const Future<T>* const> futures) {
  if (futures.empty()) throw Error(ErrorKind::failed, "when_ready of no futures has no result");
  struct First {
    Promise<std::size_t> promise{};
    std::atomic<bool> found = false;
  };
  const auto first = std::make_shared<First>();
  auto result = first->promise.future();
  for (std::size_t i = 0; i < futures.size(); ++i) {
    rpc::on_ready_anywhere(*futures[i]->state(), [first, i] {
      if (!first->found.exchange(true)) first->promise.set_value(i);
    });
  }
  return result;
}

}  // namespace lp
