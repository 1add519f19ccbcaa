#pragma once
// The receiving half of a ShmLink. Owned by the link; one thread at a time.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "lp/base/function.h"
#include "lp/base/shared_memory.h"
#include "lp/rpc/shm/message_layout.h"
#include "lp/rpc/shm/ring.h"
#include "lp/wire/message.h"

namespace lp::rpc {

class ShmReader {
 public:
  // `map` makes a Buffer of an array on the other side's heap.
  ShmReader(RingReader lane, std::size_t heap_size, Function<Buffer(const ArrayHead&)> map)
      : lane_(lane), heap_size_(heap_size), map_(std::move(map)) {}

  // Returns the next message, once all of it is there. Throws Error(failed) for a malformed message.
  bool next(Message& message);
  // Called after next. Returns true when the writer waits for room that there is now.
  bool release() noexcept { return lane_.release(); }

 private:
  enum class Stage : std::uint8_t { head, table, bytes };

  void begin();
  bool fill();

  RingReader lane_;
  const std::size_t heap_size_;
  Function<Buffer(const ArrayHead&)> map_;
  Stage stage_ = Stage::head;
  MessageHead head_;
  Message message_;
  std::vector<std::byte> table_;
  std::vector<std::size_t> in_line_;  // indices of message_.arrays
  std::size_t part_ = 0;              // 0: the body; then the arrays of in_line_
  std::size_t done_ = 0;              // bytes of the part that are read
};

}  // namespace lp::rpc
