#include "lp/rpc/shm/release_ring.h"

#include "lp/base/error.h"

namespace lp::rpc {
namespace {
// Leases that are given back wait until the taker comes by, up to these limits.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kMostLeases = ReleaseRing::kSize / 2;
}  // namespace

bool ReleaseWriter::give(std::uint64_t lease, std::uint64_t bytes) {
  const bool waited = waits();
  if (ring_.taken.load(std::memory_order_acquire) == at_) leases_ = bytes_ = 0;
  ++leases_;
  bytes_ += bytes;
  waiting_.push_back(lease);
  const bool moved = go_on();  // also fills room that the taker has just made, before it could ring
  if (!(waited && moved) && leases_ < kMostLeases && bytes_ < kMostBytes) return false;
  leases_ = bytes_ = 0;
  return true;
}

bool ReleaseWriter::go_on() {
  const std::uint64_t begin = at_;
  while (!waiting_.empty()) {
    // The taker may write nonsense there, but not where this side writes.
    if (at_ - ring_.taken.load(std::memory_order_acquire) >= ReleaseRing::kSize) {
      ring_.giver_waits = true;
      if (at_ - ring_.taken.load() >= ReleaseRing::kSize) break;
    }
    ring_.leases[at_++ % ReleaseRing::kSize].store(waiting_.front(), std::memory_order_relaxed);
    waiting_.pop_front();
  }
  if (at_ == begin) return false;
  ring_.given.store(at_, std::memory_order_release);
  return true;
}

bool ReleaseReader::take(std::uint64_t& lease) {
  const std::uint64_t given = ring_.given.load(std::memory_order_acquire);
  const std::uint64_t at = at_.load(std::memory_order_relaxed);
  if (given == at) return false;
  if (given - at > ReleaseRing::kSize) throw Error(ErrorKind::failed, "malformed message: it returns too many arrays");
  lease = ring_.leases[at % ReleaseRing::kSize].load(std::memory_order_relaxed);
  at_.store(at + 1, std::memory_order_relaxed);
  return true;
}

bool ReleaseReader::release() noexcept {
  ring_.taken.store(at_.load(std::memory_order_relaxed));
  return ring_.giver_waits.load() && ring_.giver_waits.exchange(false);
}

}  // namespace lp::rpc
