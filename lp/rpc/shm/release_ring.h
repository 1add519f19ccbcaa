#pragma once
// Gives back arrays that lie on the heap of another process, through a ring with the numbers of their leases. One side
// gives, the other takes at its next poll. A ReleaseRing lies in memory that both processes map. ReleaseWriter and
// ReleaseReader are one side's view of it, and each is for one thread at a time.

#include <atomic>
#include <cstdint>
#include <deque>

namespace lp::rpc {

struct ReleaseRing {
  static constexpr std::uint64_t kSize = 1024;

  alignas(64) std::atomic<std::uint64_t> given = 0;
  std::atomic<std::uint64_t> leases[kSize] = {};
  alignas(64) std::atomic<std::uint64_t> taken = 0;
  std::atomic<bool> giver_waits = false;  // the giver waits for room: the taker rings when it has made some
};

class ReleaseWriter {
 public:
  explicit ReleaseWriter(ReleaseRing& ring) : ring_(ring) {}

  // Gives an array of `bytes` back, or keeps its lease until there is room. Returns true when the taker must be rung:
  // when the leases or bytes reach their limit, once each time, or when leases that waited for room have moved.
  bool give(std::uint64_t lease, std::uint64_t bytes);
  // Called when the taker has made room. Returns true when waiting leases have moved: the taker must be rung.
  bool go_on();
  bool waits() const noexcept { return !waiting_.empty(); }

 private:
  ReleaseRing& ring_;
  std::uint64_t at_ = 0;
  std::uint64_t leases_ = 0;           // leases since the taker had all, or had to be rung
  std::uint64_t bytes_ = 0;            // bytes of these leases
  std::deque<std::uint64_t> waiting_;  // leases without room
};

class ReleaseReader {
 public:
  explicit ReleaseReader(ReleaseRing& ring) : ring_(ring) {}

  // Any thread may ask.
  bool any() const noexcept {
    return ring_.given.load(std::memory_order_acquire) != at_.load(std::memory_order_relaxed);
  }
  // Takes the next lease that was given back. Returns false when there is none. Throws Error(failed) when the giver's
  // position is impossible.
  bool take(std::uint64_t& lease);
  // Called after take. Returns true when the giver waits for room and must be rung.
  bool release() noexcept;

 private:
  ReleaseRing& ring_;
  std::atomic<std::uint64_t> at_ = 0;
};

}  // namespace lp::rpc
