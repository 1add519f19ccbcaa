#pragma once
// The role of receiving from one source: one thread at a time has it. A thread that has to wait in the middle gives the
// role up, so that another goes on. Owned by the source; thread-safe.

#include <atomic>
#include <cstdint>
#include <utility>

#include "lp/rpc/link/before_wait.h"

namespace lp::rpc {

class ReceiveRole {
 public:
  // Takes the role. Returns false when another thread has it: that thread polls once more before it leaves.
  bool enter() noexcept {
    std::uint32_t seen = kFree;
    while (!state_.compare_exchange_weak(seen, seen == kFree ? kTaken : kAgain)) {
    }
    return seen == kFree;
  }
  // Gives the role up. Returns true when another thread wanted it meanwhile.
  bool leave() noexcept { return state_.exchange(kFree) == kAgain; }

  bool taken() const noexcept { return state_.load() != kFree; }
  // Asks the thread that has the role to poll once more. Returns false when no thread has it.
  bool ask_again() noexcept {
    std::uint32_t seen = kTaken;
    return state_.compare_exchange_strong(seen, kAgain) || seen == kAgain;
  }

 private:
  enum : std::uint32_t { kFree, kTaken, kAgain };
  std::atomic<std::uint32_t> state_ = kFree;
};

// Where a thread that receives runs handlers and continuations. One that waits for its own reply leaves them to the
// pool: its reply must not wait for them.
enum class Handlers : std::uint8_t { here, in_pool };

// The current thread has the role of `Source` while this lives, or until the thread waits for something: then
// source.role_given_up() follows, in this thread.
template <class Source>
class Receiving final : private BeforeWait {
 public:
  Receiving(ReceiveRole& role, Source& source) noexcept : role_(role), source_(source) {}

  bool has_role() const noexcept { return has_role_; }
  // Gives the role up, if the thread still has it. Returns true when another thread wanted it meanwhile.
  bool leave() noexcept { return std::exchange(has_role_, false) && role_.leave(); }

 private:
  void hand_over() noexcept override {
    if (!std::exchange(has_role_, false)) return;
    role_.leave();
    source_.role_given_up();
  }

  ReceiveRole& role_;
  Source& source_;
  bool has_role_ = true;
};

}  // namespace lp::rpc
