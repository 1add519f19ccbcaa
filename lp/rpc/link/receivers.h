#pragma once
// The threads of a process that receive what others send, from one source. One of them, the receiver, waits for it and
// runs handlers itself, so that a call costs no change of thread; another stands by, and takes its place when a handler
// waits or takes long (leader and followers: Schmidt et al., "Leader/Followers", 2000). Owned by the one whose source
// it is; the threads are the pool's. Thread-safe.

#include <atomic>
#include <cstdint>
#include <memory>

#include "lp/base/scheduler.h"

namespace lp::internal {

class Receivers {
 public:
  // Where they receive from; they keep it until they end. One thread at a time has the duty, though another may still
  // be in the middle of receive.
  class Source {
   public:
    virtual ~Source() = default;
    // Handles what there is, as long as on_duty().
    virtual void receive() = 0;
    // Waits until there is something, or until wake, which any thread may call.
    virtual void wait() = 0;
    virtual void wake() noexcept = 0;
    // The receiver is about to wait for something else. Whether it goes on receiving by itself; else another takes its
    // place when who sends wakes the standby, or now.
    enum class Successor : std::uint8_t { none, when_rung, now };
    virtual Successor successor() const noexcept = 0;
    // This thread has taken the place of another.
    virtual void took_over() {}
  };

  // What the threads tell one another. It may lie where other processes see it, so that who sends to a busy receiver
  // wakes the standby.
  struct Post {
    Word standby = 0;                         // 1: the standby sleeps on it
    std::atomic<std::uint64_t> receiver = 0;  // upper bits: which thread it is; the lowest: it is busy

    bool busy() const noexcept { return (receiver.load() & 1) != 0; }
    void wake_standby() noexcept {
      if (standby.load() == 1 && standby.exchange(0) == 1) unpark(standby);
    }
  };

  // `post` is there as long as `source`.
  Receivers(Pool& pool, Post& post, std::weak_ptr<Source> source);
  ~Receivers() { close(); }
  Receivers(const Receivers&) = delete;
  Receivers& operator=(const Receivers&) = delete;

  // The threads end by themselves, after the handlers that they are in.
  void close() noexcept;
  // Lets both threads look, for instance when a process has died that may have been about to wake one.
  void wake() noexcept;

  // Of the current thread: it receives, and nobody has taken its place.
  static bool on_duty() noexcept;
  // Called before it runs a handler, or whatever may take long; `more`: something else is there already.
  static void before_handler(bool more) noexcept;

 private:
  struct State;
  const std::shared_ptr<State> state_;  // shared with the threads
};

}  // namespace lp::internal
