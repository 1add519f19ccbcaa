#pragma once
// How other processes of this host say that they have written to one of the lanes that a process reads: a page of
// shared memory with a bit for each lane, and the words that the threads of the process sleep on, its Receivers
// (receivers.h). Lies in shared memory; thread-safe.

#include <atomic>
#include <cstdint>

#include "lp/base/scheduler.h"
#include "lp/rpc/link/receivers.h"

namespace lp::internal {

struct Bell {
  static constexpr std::uint32_t kLanes = 4096;

  alignas(64) Word asleep = 0;  // 1: the thread that receives sleeps on it
  alignas(64) Receivers::Post post;
  alignas(64) std::atomic<std::uint64_t> any = 0;  // a bit for each word that may not be 0
  std::atomic<std::uint64_t> words[kLanes / 64] = {};

  // Who finds a mark there leaves it: whoever takes it back looks at the lane later than that.
  void mark(std::uint32_t lane) noexcept {
    set(words[lane / 64], std::uint64_t{1} << (lane % 64));
    set(any, std::uint64_t{1} << (lane / 64));
  }
  // Marks the lane and wakes a thread when none is awake that will see it soon.
  void ring(std::uint32_t lane) noexcept {
    mark(lane);
    if (asleep.load() == 1) {
      if (asleep.exchange(0) == 1) unpark(asleep);
    } else if (post.busy()) {
      post.wake_standby();
    }
  }
  // The next lane after `lane` that was rung, around, whose mark is taken back; false when there is none.
  bool take(std::uint32_t& lane) noexcept;

 private:
  static void set(std::atomic<std::uint64_t>& word, std::uint64_t bit) noexcept {
    if ((word.load() & bit) == 0) word.fetch_or(bit);
  }
  bool take_of(std::uint32_t word, std::uint64_t among, std::uint32_t& lane) noexcept;
};

}  // namespace lp::internal
