#pragma once
// Results that arrive one after another. A handler is a coroutine that yields them:
//
//   lp::Stream<Row> rows(int count) { for (int i = 0; i < count; ++i) co_yield row(i); }
//
// and a caller reads them: for (const Row& row : client.stream<&Table::rows>(100)) ...
//
// The handler is never more than kStreamWindow items ahead of the reader; while it waits for the reader it holds
// neither turn nor thread. Each item, not the stream as a whole, must come within the call's time limit. A reader that
// goes away ends the handler at its next yield. A StreamReader belongs to one thread.

#include <coroutine>
#include <cstdint>
#include <deque>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "lp/rpc/core/future.h"

namespace lp {

inline constexpr std::uint64_t kStreamWindow = 64;  // items on their way to one reader

namespace rpc {

// The destination of a handler's items.
template <class T>
class StreamSink {
 public:
  // Returns true when the handler may go on at once. Otherwise it is resumed when the reader has room.
  virtual bool put(T item, std::coroutine_handle<> handler) = 0;
  virtual bool wanted() const noexcept = 0;  // whether the reader is there
  virtual void end() noexcept = 0;
  virtual void fail_stream(const Error& error) noexcept = 0;

 protected:
  ~StreamSink() = default;
};

}  // namespace rpc

// The return type of a streaming handler. lp runs the handler; a user only writes the coroutine.
template <class T>
class [[nodiscard]] Stream {
 public:
  class promise_type {
   public:
    Stream get_return_object() { return Stream(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {
      ended_ = true;
      sink_->end();
    }
    void unhandled_exception() {
      ended_ = true;
      sink_->fail_stream(as_error(std::current_exception()));
    }

    struct Yielded {
      promise_type& promise;
      T item;
      bool await_ready() const noexcept { return false; }
      bool await_suspend(std::coroutine_handle<> handler) { return !promise.sink_->put(std::move(item), handler); }
      void await_resume() const noexcept {}
    };
    Yielded yield_value(T item) { return {*this, std::move(item)}; }
    bool wanted() const noexcept { return sink_->wanted(); }

    ~promise_type() {
      if (!ended_ && sink_ != nullptr) sink_->fail_stream(rpc::abandoned_promise());
    }

   private:
    friend class Stream;
    rpc::StreamSink<T>* sink_ = nullptr;
    bool ended_ = false;
  };

  Stream(Stream&& other) noexcept : handler_(std::exchange(other.handler_, nullptr)) {}
  Stream& operator=(Stream&&) = delete;
  ~Stream() {
    if (handler_) handler_.destroy();
  }

  // For lp's own code: returns the handler, which the sink owns from now on.
  std::coroutine_handle<> begin_into(rpc::StreamSink<T>& sink) {
    handler_.promise().sink_ = &sink;
    return std::exchange(handler_, nullptr);
  }

 private:
  explicit Stream(std::coroutine_handle<promise_type> handler) : handler_(handler) {}
  std::coroutine_handle<promise_type> handler_;
};

namespace rpc {

// The next item of a stream, as a value that arrives once. If one call brings the items, a waiting thread may read the
// carrier of that call.
template <class T>
class NextItem final : public StateBase {
 public:
  explicit NextItem(Ref<StateBase> call) : call_(std::move(call)) {}

 private:
  void* slot_address() noexcept override { return &slot_; }
  std::shared_ptr<Connection> carrier() const override { return call_ ? call_->carrier() : nullptr; }
  void want() noexcept override {
    if (call_) call_->want();
  }
  bool may_have_run() const noexcept override { return call_ && call_->may_have_run(); }
  std::optional<CallName> call_name() const override {
    std::optional<CallName> name = call_ ? call_->call_name() : std::nullopt;
    if (name.has_value()) name->item = true;
    return name;
  }
  Error late() const override {
    constexpr const char* kText = "the stream had no item in time";
    return call_ ? Error(ErrorKind::deadline, kText, call_->late().origin()) : Error(ErrorKind::deadline, kText);
  }

  const Ref<StateBase> call_;
  Slot<std::optional<T>> slot_;
};

// The reader's side of a stream: items that have arrived.
template <class T>
class StreamQueue {
 public:
  void put(T item) {
    Ref<StateBase> waiter;
    {
      const std::lock_guard lock(mutex_);
      waiter = std::exchange(waiter_, {});
      if (!waiter) return items_.push_back(std::move(item));
    }
    waiter->set<std::optional<T>>(std::move(item));
  }
  void end(const std::optional<Error>& error) {
    Ref<StateBase> waiter;
    {
      const std::lock_guard lock(mutex_);
      if (ended_) return;
      ended_ = true;
      error_ = error;
      waiter = std::exchange(waiter_, {});
    }
    if (waiter) end(*waiter);
  }
  // One item at a time. `call` is the call that brings the items, if it is one call.
  Future<std::optional<T>> next(Ref<StateBase> call = {}) {
    Ref<StateBase> item(new NextItem<T>(std::move(call)));
    const std::lock_guard lock(mutex_);
    if (!items_.empty()) {
      item->set<std::optional<T>>(std::move(items_.front()));
      items_.pop_front();
    } else if (ended_) {
      end(*item);
    } else {
      waiter_ = item;
    }
    return Future<std::optional<T>>(std::move(item));
  }

 private:
  void end(StateBase& waiter) {
    if (error_) {
      waiter.fail(*error_);
    } else {
      waiter.set<std::optional<T>>(std::nullopt);
    }
  }

  std::mutex mutex_;
  std::deque<T> items_;
  bool ended_ = false;
  std::optional<Error> error_;
  Ref<StateBase> waiter_;
};

// The parts of a call that its StreamReader needs.
struct StreamSource {
  Ref<StateBase> call{};
  Function<void(std::uint64_t)> grant{};  // more items
  Function<void()> cancel{};
  Duration timeout = kForever;  // limit for each item
};

}  // namespace rpc

template <class T>
class StreamReader {
 public:
  StreamReader(StreamReader&&) noexcept = default;
  StreamReader& operator=(StreamReader&&) = delete;
  ~StreamReader() {
    if (queue_ != nullptr && source_.cancel) source_.cancel();
  }

  // Waits at most `timeout`. Returns whether next() has an answer then, even if the answer is the end of the stream.
  bool wait_for(Duration timeout) {
    if (!next_.valid()) next_ = queue_->next(source_.call);
    return next_.wait_for(timeout);
  }

  // Calls f() when next() has an answer, at once if it has: on any thread, perhaps after the reader's end.
  template <class F>
  void on_ready(F f) {
    if (!next_.valid()) next_ = queue_->next(source_.call);
    rpc::on_ready_anywhere(*next_.state(), std::move(f));
  }

  // Returns the next item, or nothing at the end. Throws the handler's error, and `deadline` when none comes in time.
  std::optional<T> next() {
    if (!wait_for(source_.timeout)) throw Error(next_.state()->late());
    std::optional<T> item = next_.get();
    if (item && ++taken_ == kStreamWindow / 2) {
      source_.grant(taken_);
      taken_ = 0;
    }
    return item;
  }

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = T*;
    using reference = T&;

    explicit Iterator(StreamReader* reader) : reader_(reader), item_(reader->next()) {}
    T& operator*() { return *item_; }
    T* operator->() { return &*item_; }
    Iterator& operator++() {
      item_ = reader_->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return !item_; }

   private:
    StreamReader* reader_;
    std::optional<T> item_;
  };
  Iterator begin() { return Iterator(this); }
  std::default_sentinel_t end() const { return {}; }

  // For lp's own code.
  StreamReader(std::shared_ptr<rpc::StreamQueue<T>> queue, rpc::StreamSource source)
      : queue_(std::move(queue)), source_(std::move(source)) {}

 private:
  std::shared_ptr<rpc::StreamQueue<T>> queue_;  // shared with the call that fills it
  rpc::StreamSource source_;
  Future<std::optional<T>> next_{};
  std::uint64_t taken_ = 0;
};

}  // namespace lp
