#pragma once
// The sending half of a ShmLink. Owned by the link; one thread at a time, under the link's lock.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "lp/base/array.h"
#include "lp/rpc/link/link.h"
#include "lp/rpc/shm/message_layout.h"
#include "lp/rpc/shm/ring.h"
#include "lp/wire/message.h"

namespace lp::rpc {

class ShmWriter {
 public:
  explicit ShmWriter(RingWriter lane) : lane_(lane) {}

  // Writes a message, or queues the part that has no room now. wake must follow, at once or after other messages.
  void send(const Message& message);
  // Goes on when the reader has made room. wake must follow.
  void go_on(std::vector<Buffer>& written);
  // Notifies the reader of the written bytes. Returns true when it must be rung.
  bool wake() noexcept;
  // Whether wake would cost a system call.
  bool reader_sleeps() const noexcept { return lane_.reader_sleeps(); }
  // Returns the buffer that kept an array, because the reader no longer needs it. Throws Error(failed) for a lease that
  // does not exist.
  Buffer take_back(std::uint64_t lease);
  Link::Queued queued() const { return queued_; }

 private:
  ArrayHead describe(const Buffer& array);

  RingWriter lane_;
  struct Part {
    Buffer bytes;
    bool last;  // last part of its message
  };
  std::deque<Part> queue_;
  Link::Queued queued_;
  std::size_t done_ = 0;  // written bytes of the first part
  std::size_t kept_ = 0;  // bytes of arrays on the heap, since the reader had all, or was to be rung for them
  std::vector<Buffer> leased_;
  std::vector<std::uint64_t> free_;  // free indices of leased_
  std::vector<ArrayHead> arrays_;    // arrays of the current message
};

}  // namespace lp::rpc
