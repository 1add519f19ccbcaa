#pragma once
// The bell that other processes of this host ring when they have written to one of the lanes that a process reads. It
// is a page of shared memory with a bit for each lane, and with the words on which the threads of the process, its
// Receivers (receivers.h), sleep. Lies in shared memory; thread-safe.

#include <atomic>
#include <cstdint>

#include "lp/base/scheduler.h"
#include "lp/rpc/link/receivers.h"

namespace lp::rpc {

struct Doorbell {
  static constexpr std::uint32_t kLanes = 4096;

  alignas(64) Word asleep = 0;  // 1: the thread that receives sleeps on it
  alignas(64) Receivers::Post post;
  alignas(64) std::atomic<std::uint64_t> any = 0;  // a bit for each word that may not be 0
  std::atomic<std::uint64_t> words[kLanes / 64] = {};

  // A writer that finds a mark leaves it: the reader takes the mark back before it reads the lane.
  void mark(std::uint32_t lane) noexcept {
    set(words[lane / 64], std::uint64_t{1} << (lane % 64));
    set(any, std::uint64_t{1} << (lane / 64));
  }
  // Marks the lane, and wakes a thread when none is awake that will see the mark soon.
  void ring(std::uint32_t lane) noexcept {
    mark(lane);
    if (asleep.load() == 1) {
      if (asleep.exchange(0) == 1) unpark(asleep);
    } else if (post.busy()) {
      post.wake_standby();
    }
  }
  // Takes back the mark of the next lane after `lane` that was rung, going around. Returns false when there is none.
  bool take(std::uint32_t& lane) noexcept;

 private:
  static void set(std::atomic<std::uint64_t>& word, std::uint64_t bit) noexcept {
    if ((word.load() & bit) == 0) word.fetch_or(bit);
  }
  bool take_of(std::uint32_t word, std::uint64_t among, std::uint32_t& lane) noexcept;
};

}  // namespace lp::rpc
