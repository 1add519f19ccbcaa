#pragma once
// The sending half of a ShmLink. Owned by it; one thread at a time, under the link's lock.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "lp/base/array.h"
#include "lp/rpc/link/link.h"
#include "lp/rpc/shm/message.h"
#include "lp/rpc/shm/ring.h"
#include "lp/wire/frames.h"

namespace lp::internal {

class ShmWriter {
 public:
  explicit ShmWriter(LaneWriter lane) : lane_(lane) {}

  // Writes a message, or queues what has no room now. wake must follow, soon or when other messages have.
  void send(const Frames& message);
  // The reader has made room. wake must follow.
  void go_on(std::vector<Buffer>& written);
  // Tells the reader of what was written; true when it must be rung.
  bool wake() noexcept;
  // That would cost a system call.
  bool reader_sleeps() const noexcept { return lane_.reader_sleeps(); }
  // The reader needs an array no more: what kept it. Throws Error(failed) for a lease that there is not.
  Buffer take_back(std::uint64_t lease);
  Link::Queued queued() const { return queued_; }

 private:
  ArrayHead describe(const Buffer& array);

  LaneWriter lane_;
  struct Part {
    Buffer bytes;
    bool last;  // of its message
  };
  std::deque<Part> queue_;
  Link::Queued queued_;
  std::size_t done_ = 0;  // bytes of the first one
  bool ring_ = false;     // for some of what was written
  std::size_t kept_ = 0;  // bytes of arrays on the heap, since the reader had all, or was to be rung for them
  std::vector<Buffer> leased_;
  std::vector<std::uint64_t> free_;  // of leased_
  std::vector<ArrayHead> arrays_;    // of the message at hand
};

}  // namespace lp::internal
