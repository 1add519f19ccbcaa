#pragma once
// How other processes of this host say that they have written to one of the lanes that a process reads: a page of
// shared memory with a bit for each lane, and two words that the threads of the process sleep on. Receivers
// (receivers.h) answer it. Lies in shared memory; thread-safe.

#include <atomic>
#include <cstdint>

#include "lp/base/scheduler.h"

namespace lp::internal {

struct Bell {
  static constexpr std::uint32_t kLanes = 4096;

  alignas(64) Word asleep = 0;   // 1: the thread that receives sleeps on it
  alignas(64) Word standby = 0;  // 1: the thread that would take its place sleeps on it
  // Its upper bits tell which thread receives, the lowest one that it is busy with a message.
  std::atomic<std::uint64_t> receiver = 0;
  alignas(64) std::atomic<std::uint64_t> any = 0;  // a bit for each word that may not be 0
  std::atomic<std::uint64_t> words[kLanes / 64] = {};

  void mark(std::uint32_t lane) noexcept {
    words[lane / 64].fetch_or(std::uint64_t{1} << (lane % 64));
    any.fetch_or(std::uint64_t{1} << (lane / 64));
  }
  // Marks the lane and wakes a thread when none is awake that will see it soon.
  void ring(std::uint32_t lane) noexcept {
    mark(lane);
    if (asleep.load() == 1) {
      if (asleep.exchange(0) == 1) unpark(asleep);
    } else if ((receiver.load() & 1) != 0) {
      wake_standby();
    }
  }
  void wake_standby() noexcept {
    if (standby.load() == 1 && standby.exchange(0) == 1) unpark(standby);
  }
  // A lane that was rung, whose mark is taken back; false when there is none.
  bool take(std::uint32_t& lane) noexcept;
};

}  // namespace lp::internal
