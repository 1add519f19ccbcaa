#pragma once
// How a process gives back arrays that lie on the heap of another: a ring of the numbers of their leases, with one side
// that gives and one that takes, whenever it comes by. A LeaseRing lies in memory that both map; LeaseGiver and
// LeaseTaker are one side's view of it, and for one thread at a time.

#include <atomic>
#include <cstdint>
#include <deque>

namespace lp::internal {

struct LeaseRing {
  static constexpr std::uint64_t kSize = 1024;

  alignas(64) std::atomic<std::uint64_t> given = 0;
  std::atomic<std::uint64_t> leases[kSize] = {};
  alignas(64) std::atomic<std::uint64_t> taken = 0;
  std::atomic<bool> giver_waits = false;  // for room: the taker rings when it has made some
};

class LeaseGiver {
 public:
  explicit LeaseGiver(LeaseRing& ring) : ring_(ring) {}

  // Gives an array of so many bytes back, or keeps its lease until there is room. True when the taker must be rung: so
  // much is there, told once for as much, or some of what waited for room.
  bool give(std::uint64_t lease, std::uint64_t bytes);
  // The taker has made room. True when some of what waited is there now: it must be rung.
  bool go_on();
  bool waits() const noexcept { return !waiting_.empty(); }

 private:
  LeaseRing& ring_;
  std::uint64_t at_ = 0;
  std::uint64_t leases_ = 0;           // since the taker had all, or had to be rung
  std::uint64_t bytes_ = 0;            // of these
  std::deque<std::uint64_t> waiting_;  // without room
};

class LeaseTaker {
 public:
  explicit LeaseTaker(LeaseRing& ring) : ring_(ring) {}

  // Any thread may ask.
  bool any() const noexcept {
    return ring_.given.load(std::memory_order_acquire) != at_.load(std::memory_order_relaxed);
  }
  // The next lease that was given back; false when there is none. Throws Error(failed) when the giver's position is
  // impossible.
  bool take(std::uint64_t& lease);
  // After take: true when the giver waits for room and must be rung.
  bool release() noexcept;

 private:
  LeaseRing& ring_;
  std::atomic<std::uint64_t> at_ = 0;
};

}  // namespace lp::internal
