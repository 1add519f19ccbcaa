#pragma once
// One direction of a link through shared memory: a ring of bytes with one writing and one reading process. Positions
// count bytes since the beginning and only grow, so a process that is killed at any instruction leaves a ring that is
// whole up to the last publish. A ShmRing lies in memory that both processes map. RingWriter and RingReader are one
// side's view of it, and each is for one thread at a time.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "lp/base/scheduler.h"

namespace lp::rpc {

struct ShmRing {
  // The reader's word. While a thread waits for just this lane, it is an Event's (scheduler.h). Otherwise it is one of
  // these: kRing asks for a ring of the bell; kLater asks for it only when the ring fills, because nobody waits.
  static constexpr std::uint32_t kRing = 3, kLater = 4;

  alignas(64) std::atomic<std::uint64_t> written = 0;
  // The position that lies at the ring's beginning. Later positions follow from it.
  std::atomic<std::uint64_t> origin = 0;
  alignas(64) std::atomic<std::uint64_t> read = 0;
  alignas(64) Word reader = kRing;
  std::atomic<bool> writer_waits = false;  // the writer waits for room: the reader rings when it has made some

  std::uint64_t unread() const noexcept { return written.load() - read.load(); }
};

class RingWriter {
 public:
  RingWriter(ShmRing& lane, std::span<std::byte> ring) : lane_(lane), ring_(ring) {}

  // Called before a message: if the reader has read everything, the next bytes lie at the ring's beginning again. A few
  // pages stay in the caches where whole rings do not.
  void start_over() noexcept;
  bool all_read() const noexcept { return lane_.read.load(std::memory_order_acquire) == at_; }
  std::size_t room() noexcept;                             // bytes that fit
  void put(const void* bytes, std::size_t size) noexcept;  // they must fit
  void publish() noexcept;                                 // publishes the bytes that were put
  bool wait_for_room() noexcept;  // then the reader will ring; returns false when there is room after all
  // Called after publish. Returns true when the other side must be rung; wakes its waiting thread, if there is one.
  // With `soon` this applies even when nobody waits.
  bool wake(bool soon = false) noexcept;
  // Whether wake would have to wake a thread, or ring.
  bool reader_sleeps() const noexcept;

 private:
  ShmRing& lane_;
  const std::span<std::byte> ring_;
  std::uint64_t at_ = 0;
  std::uint64_t origin_ = 0;
  std::uint64_t read_ = 0;  // the reader's position when it was last read
  std::uint64_t next_poll_ = 0;
};

class RingReader {
 public:
  RingReader(ShmRing& lane, std::span<const std::byte> ring) : lane_(lane), ring_(ring) {}

  // Returns the bytes that are there. Reads the writer's position again if there were fewer than `wanted`. Throws
  // Error(failed) when that position is impossible.
  std::size_t available(std::size_t wanted);
  void get(void* bytes, std::size_t size) noexcept;  // they must be available
  // Frees the bytes that were read, now or together with later ones. Returns true when the writer waits for room, there
  // is much of it, and the writer must be rung.
  bool release() noexcept;

 private:
  ShmRing& lane_;
  const std::span<const std::byte> ring_;
  std::uint64_t at_ = 0;
  std::uint64_t origin_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t released_ = 0;
};

}  // namespace lp::rpc
