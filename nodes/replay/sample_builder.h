#pragma once
// Collects the items of a sample reply: copies small pieces one behind the other, and shares the memory of large ones.
// Lives in the stack of a sample.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nodes/replay/chunk.h"
#include "nodes/replay/replay_messages.h"

namespace lp::replay {

class SampleBuilder {
 public:
  // There will be at most `count` items, in all likelihood of the same size.
  explicit SampleBuilder(std::uint32_t count) : count_(count) {}

  // Adds an item, for the caller to fill in. It is not passed as a value: a copy of what has just been written waits
  // until all earlier stores have reached the cache.
  SampledItem& add_item();
  // Adds a piece to the last item.
  void add(const Piece& piece, std::size_t row_bytes);
  std::uint32_t size() const { return static_cast<std::uint32_t>(samples_.items.size()); }
  // Returns the samples. The builder is spent.
  Samples take();

 private:
  const std::uint32_t count_;
  Samples samples_{};
  // The small pieces. Another process may have read the memory of samples_.small last. Then each line of it is far
  // away, and a single copy of everything waits far less for that than a copy of each piece.
  std::vector<std::byte> small_{};
};

}  // namespace lp::replay
