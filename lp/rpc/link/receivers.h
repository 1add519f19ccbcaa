#pragma once
// The threads of a process that receive messages of other processes, from one source. One of them, the receiver, waits
// for messages and runs handlers itself, so that a call costs no change of thread. Another stands by, and takes its
// place when a handler waits or takes long (leader and followers: Schmidt et al., "Leader/Followers", 2000). Owned by
// the owner of the source; the threads belong to the pool. Thread-safe.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include "lp/base/scheduler.h"

namespace lp::rpc {

class Receivers {
 public:
  // A process that is stopped while it wakes another leaves a sleeping one. So a thread that waits to be woken polls,
  // too: at the first interval, and after a long time without messages at the second.
  static constexpr Duration kLostWake = std::chrono::seconds(1);
  static constexpr Duration kMostLostWake = std::chrono::seconds(16);

  // The source from which they receive; they keep it until they end. One thread at a time has the duty, though another
  // may still be in the middle of receive.
  class Source {
   public:
    virtual ~Source() = default;
    // Handles the messages that are there, as long as on_duty().
    virtual void receive() = 0;
    // Waits until there is something, or until wake, which any thread may call.
    virtual void wait() = 0;
    virtual void wake() noexcept = 0;
    // The receiver is about to wait for something else. Returns who receives next: nobody else (this thread goes on),
    // the standby when a sender wakes it, or the standby now.
    enum class Successor : std::uint8_t { none, when_rung, now };
    virtual Successor successor() const noexcept = 0;
    // This thread has taken the place of another.
    virtual void took_over() {}
  };

  // The words by which the threads notify one another. They may lie where other processes see them, so that a process
  // that sends to a busy receiver wakes the standby.
  struct Post {
    Word standby = 0;                         // 1: the standby sleeps on it
    std::atomic<std::uint64_t> receiver = 0;  // upper bits: number of the receiving thread; lowest bit: it is busy

    bool busy() const noexcept { return (receiver.load() & 1) != 0; }
    void wake_standby() noexcept {
      if (standby.load() == 1 && standby.exchange(0) == 1) unpark(standby);
    }
  };

  // `post` lives as long as `source`.
  Receivers(Pool& pool, Post& post, std::weak_ptr<Source> source);
  ~Receivers() { close(); }
  Receivers(const Receivers&) = delete;
  Receivers& operator=(const Receivers&) = delete;

  // Lets the threads end by themselves, after their present handlers.
  void close() noexcept;
  // Makes both threads poll, for instance when a process has died that may have been about to wake one.
  void wake() noexcept;

  // Whether the current thread receives, and nobody has taken its place.
  static bool on_duty() noexcept;
  // Called before the current thread runs a handler, or other code that may take long. `more`: another message is there
  // already.
  static void before_handler(bool more) noexcept;

 private:
  struct State;
  const std::shared_ptr<State> state_;  // shared with the threads
};

}  // namespace lp::rpc
