#pragma once
// The sending half of a ShmLink. Owned by it; one thread at a time, under the link's lock.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "lp/base/array.h"
#include "lp/rpc/lane.h"
#include "lp/rpc/shm_message.h"
#include "lp/wire/frames.h"

namespace lp::internal {

class ShmWriter {
 public:
  explicit ShmWriter(LaneWriter lane) : lane_(lane) {}

  // Writes a message, or queues what has no room now. True when the reader must be rung.
  bool send(const Frames& message, std::span<const std::uint64_t> returned);
  // The reader has made room. True when it must be rung.
  bool go_on(std::vector<Buffer>& written);
  // The reader needs an array no more: what kept it. Throws Error(failed) for a lease that there is not.
  Buffer take_back(std::uint64_t lease);
  bool waits() const { return !queue_.empty(); }

 private:
  ArrayHead describe(const Buffer& array);

  LaneWriter lane_;
  std::deque<Buffer> queue_;  // parts of messages, in order
  std::size_t done_ = 0;      // bytes of the first one
  std::vector<Buffer> leased_;
  std::vector<std::uint64_t> free_;  // of leased_
  std::vector<ArrayHead> arrays_;    // of the message at hand
};

}  // namespace lp::internal
