#pragma once
// A stream that a service fills as things happen. A handler returns it. Items that the service puts in go to the reader
// at once, on the stack of the code that puts them.
//
//   lp::Stream<Event> watch() { return events_.stream(); }
//   void record(Event event) { events_.put(std::move(event)); }
//
//   lp::Feed<Event> events_;
//
// For one reader; a later reader takes over the items that are left. Items wait in the feed while there is no reader,
// or no room on the way to it. Owned by a service, and used in its turn only.

#include <coroutine>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "lp/base/error.h"
#include "lp/rpc/stream.h"

namespace lp {

template <class T>
class Feed {
 public:
  Feed() = default;
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;
  // A reader that is not at the end gets the error that the stream was dropped.
  ~Feed() {
    if (!state_->ended) fail(rpc::abandoned_promise());
  }

  void put(T item) {
    state_->items.push_back(std::move(item));
    state_->go_on();
  }
  // Ends the stream. The items that wait are read first; then the stream ends, or fails with `error`.
  void end() {
    state_->ended = true;
    state_->go_on();
  }
  void fail(const Error& error) {
    state_->error = error;
    end();
  }

  // The number of items that wait.
  std::size_t size() const { return state_->items.size(); }

  // The reading end, for a handler to return.
  Stream<T> stream() { return read(state_, ++state_->reader); }

 private:
  // Shared with the reading coroutine, which may live longer.
  struct State {
    std::deque<T> items{};
    bool ended = false;
    std::optional<Error> error{};
    std::uint64_t reader = 0;  // number of the latest reader
    std::coroutine_handle<> waiting{};

    void go_on() {
      if (waiting) std::exchange(waiting, nullptr).resume();
    }
  };

  // Ends when something has changed. Returns whether the reader is still there.
  struct Change {
    using Handle = std::coroutine_handle<typename Stream<T>::promise_type>;
    State& state;
    Handle reader{};
    bool await_ready() const noexcept { return false; }
    void await_suspend(Handle handle) { state.waiting = reader = handle; }
    bool await_resume() const noexcept { return reader.promise().wanted(); }
  };

  static Stream<T> read(std::shared_ptr<State> state, std::uint64_t reader) {
    state->go_on();  // a reader before this one ends
    Change change{*state};
    for (;;) {
      if (state->reader != reader) co_return;
      if (state->error) throw Error(*state->error);
      if (!state->items.empty()) {
        T item = std::move(state->items.front());
        state->items.pop_front();
        co_yield std::move(item);
      } else if (state->ended) {
        co_return;
      } else {
        const bool wanted = co_await change;
        if (!wanted) co_return;  // the items that are left belong to the next reader
      }
    }
  }

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace lp
