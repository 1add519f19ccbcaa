#pragma once
// A way for whole messages to one other process. It only moves them: order, deadlines, duplicates and the rest are the
// Connection's. Owned by its Connection; send may be called from any thread.

#include <cstddef>

#include "lp/wire/frames.h"

namespace lp::internal {

class Link {
 public:
  // Bytes of a body or an array; who announces more is dropped.
  static constexpr std::size_t kLargestFrame = std::size_t{8} << 30;

  virtual ~Link() = default;
  // Queues a message; it arrives in order or, when the other side is gone, never.
  virtual void send(Frames message) = 0;
};

}  // namespace lp::internal
