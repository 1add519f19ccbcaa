#pragma once
// The threads of a process that receive what other processes of the host send. One of them, the receiver, answers the
// bell and runs handlers itself, so that a call costs no change of thread; another stands by, and takes its place when
// a handler takes long or waits (leader and followers: Schmidt et al., "Leader/Followers", 2000). Owned by Shm; the
// threads are the pool's. Thread-safe.

#include <cstdint>
#include <memory>

#include "lp/base/function.h"
#include "lp/base/scheduler.h"
#include "lp/base/shared_memory.h"
#include "lp/rpc/bell.h"

namespace lp::internal {

class Receivers {
 public:
  // `receive` handles what there is in a lane; any number of threads may call it at a time.
  Receivers(Pool& pool, Function<void(std::uint32_t lane)> receive);
  ~Receivers();
  // The threads end by themselves, after the handlers that they are in; they call `receive` no more.
  void close();
  Receivers(const Receivers&) = delete;
  Receivers& operator=(const Receivers&) = delete;

  // The bell, to hand on to who shall ring it.
  std::shared_ptr<const SharedMemory> bell() const;

  // The lanes that there are: those below `lanes`.
  void expect(std::uint32_t lanes);
  // Lets the threads look, for instance when a process has died that may have been about to wake them.
  void wake();

  // Called by the thread that receives before it runs a handler; `more`: something else has come already.
  static void before_handler(bool more) noexcept;
  // Called by any thread before it waits for something: when it receives, another takes its place.
  static void before_wait() noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the threads
};

}  // namespace lp::internal
