#pragma once
// One direction of a link through shared memory: a ring of bytes with one writing and one reading process. Positions
// count bytes since the beginning and only grow, so a process that is killed at any instruction leaves a ring that is
// whole up to the last publish. A Lane lies in memory that both map; LaneWriter and LaneReader are one side's view of
// it, and for one thread at a time.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "lp/base/scheduler.h"

namespace lp::internal {

struct Lane {
  // The reader's word: an Event's (scheduler.h) while a thread waits for just this lane. Else one of these: ring the
  // bell; or ring it only when the ring fills, for nobody waits.
  static constexpr std::uint32_t kRing = 3, kLater = 4;

  alignas(64) std::atomic<std::uint64_t> written = 0;
  std::atomic<std::uint64_t> origin = 0;  // the position that lies at the ring's beginning, and those around from it
  alignas(64) std::atomic<std::uint64_t> read = 0;
  alignas(64) Word reader = kRing;
  std::atomic<bool> writer_waits = false;  // for room: the reader rings when it has made some

  std::uint64_t unread() const noexcept { return written.load() - read.load(); }
};

class LaneWriter {
 public:
  LaneWriter(Lane& lane, std::span<std::byte> ring) : lane_(lane), ring_(ring) {}

  // Before a message: if the reader has all that there was, the next bytes lie at the ring's beginning again. A few
  // pages stay in the caches where whole rings do not.
  void start_over() noexcept;
  bool all_read() const noexcept { return lane_.read.load(std::memory_order_acquire) == at_; }
  std::size_t room() noexcept;                             // bytes that fit
  void put(const void* bytes, std::size_t size) noexcept;  // which must fit
  void publish() noexcept;                                 // what was put
  bool wait_for_room() noexcept;                           // the reader will ring; false when there is room after all
  // After publish: true when the other side must be rung; wakes its waiting thread, if there is one. `soon`: also when
  // nobody waits.
  bool wake(bool soon = false) noexcept;
  // wake would have to wake a thread, or ring.
  bool reader_sleeps() const noexcept;

 private:
  Lane& lane_;
  const std::span<std::byte> ring_;
  std::uint64_t at_ = 0;
  std::uint64_t origin_ = 0;
  std::uint64_t read_ = 0;  // as it was when we looked last
  std::uint64_t next_look_ = 0;
};

class LaneReader {
 public:
  LaneReader(Lane& lane, std::span<const std::byte> ring) : lane_(lane), ring_(ring) {}

  // Bytes that are there; looks anew if there were fewer than `wanted`. Throws Error(failed) when the writer's position
  // is impossible.
  std::size_t available(std::size_t wanted);
  void get(void* bytes, std::size_t size) noexcept;  // which must be available
  // Makes room of what was read, now or with what is read next; true when the writer waits for that, there is much, and
  // it must be rung.
  bool release() noexcept;

 private:
  Lane& lane_;
  const std::span<const std::byte> ring_;
  std::uint64_t at_ = 0;
  std::uint64_t origin_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t released_ = 0;
};

}  // namespace lp::internal
