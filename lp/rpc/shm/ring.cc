#include "lp/rpc/shm/ring.h"

#include <algorithm>
#include <cstring>

#include "lp/base/error.h"

namespace lp::rpc {
namespace {
constexpr std::size_t kNear = 4096;  // bytes that are written before it may be worth to start over
}

void RingWriter::start_over() noexcept {
  if (at_ < next_poll_) return;
  next_poll_ = at_ + kNear;
  read_ = lane_.read.load(std::memory_order_acquire);
  if (read_ != at_) return;
  origin_ = at_;
  lane_.origin.store(at_, std::memory_order_relaxed);  // the reader reads it when there are more bytes
}

std::size_t RingWriter::room() noexcept {
  // The reader may write nonsense there, but not where this side writes.
  const auto free = [this] { return ring_.size() - std::min<std::uint64_t>(at_ - read_, ring_.size()); };
  if (free() < ring_.size() / 2) read_ = lane_.read.load(std::memory_order_acquire);
  return free();
}

void RingWriter::put(const void* bytes, std::size_t size) noexcept {
  const std::size_t begin = (at_ - origin_) % ring_.size();
  const std::size_t first = std::min(size, ring_.size() - begin);
  if (first > 0) std::memcpy(ring_.data() + begin, bytes, first);  // memcpy must not get a null pointer
  if (first < size) std::memcpy(ring_.data(), static_cast<const std::byte*>(bytes) + first, size - first);
  at_ += size;
}

void RingWriter::publish() noexcept { lane_.written.store(at_); }

bool RingWriter::wait_for_room() noexcept {
  lane_.writer_waits.store(true);
  read_ = lane_.read.load();
  return at_ - read_ >= ring_.size();
}

bool RingWriter::wake(bool soon) noexcept {
  std::uint32_t seen = lane_.reader.load();
  while (seen != ShmRing::kRing) {
    if (seen == ShmRing::kLater) return soon || room() < ring_.size() / 2;
    if (seen == Event::kSet) return false;
    if (!lane_.reader.compare_exchange_weak(seen, Event::kSet)) continue;
    if (seen == Event::kWaiting) unpark(lane_.reader);
    return false;
  }
  return true;
}

bool RingWriter::reader_sleeps() const noexcept {
  const std::uint32_t seen = lane_.reader.load();
  return seen == Event::kWaiting || seen == ShmRing::kRing;
}

std::size_t RingReader::available(std::size_t wanted) {
  if (written_ - at_ < wanted) {
    const std::uint64_t written = lane_.written.load();
    if (written - at_ > ring_.size()) throw Error(ErrorKind::failed, "malformed message: more than its ring holds");
    written_ = written;
    origin_ = lane_.origin.load(std::memory_order_relaxed);  // unchanged while something is unread
  }
  return static_cast<std::size_t>(written_ - at_);
}

void RingReader::get(void* bytes, std::size_t size) noexcept {
  if (size == 0) return;
  const std::size_t begin = (at_ - origin_) % ring_.size();
  const std::size_t first = std::min(size, ring_.size() - begin);
  std::memcpy(bytes, ring_.data() + begin, first);
  if (first < size) std::memcpy(static_cast<std::byte*>(bytes) + first, ring_.data(), size - first);
  at_ += size;
}

bool RingReader::release() noexcept {
  if (at_ != written_ && at_ - released_ < ring_.size() / 128) return false;  // each time is a barrier
  released_ = at_;
  lane_.read.store(at_);
  // This must follow the store: either a writer that has just found the ring full sees our position, or we see that it
  // waits.
  if (!lane_.writer_waits.load() || written_ - at_ > ring_.size() / 2) return false;
  return lane_.writer_waits.exchange(false);
}

}  // namespace lp::rpc
