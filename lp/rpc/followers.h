#pragma once
// The threads of a process that wait for what comes through a descriptor. One of them, the leader, waits and runs
// handlers itself, so that a call costs no change of thread; another stands by, and takes the lead when a handler takes
// long or waits (leader and followers: Schmidt et al., "Leader/Followers", 2000). Owned by Tcp; the threads are the
// pool's. Thread-safe.

#include <memory>

#include "lp/base/function.h"
#include "lp/base/scheduler.h"
#include "lp/rpc/turn.h"

namespace lp::internal {

class Followers {
 public:
  // `receive` handles all that has come; the leader calls it before it waits for the descriptor to become readable.
  Followers(Pool& pool, int descriptor, Function<void()> receive);
  ~Followers() { close(); }
  Followers(const Followers&) = delete;
  Followers& operator=(const Followers&) = delete;

  // The threads end by themselves, after the handlers that they are in; they call `receive` no more.
  void close() noexcept;

  // Lets the leader look.
  void wake();
  // Runs a handler in a thread that receives.
  void run(const Runnable& handler);

  // Whether the leader waits for the descriptor; another thread does so meanwhile.
  void watch(bool on);

  // Called by any thread before it waits for something: when it has the lead, another takes it.
  static void before_wait() noexcept;

 private:
  struct State;
  const std::shared_ptr<State> state_;  // shared with the threads
};

}  // namespace lp::internal
