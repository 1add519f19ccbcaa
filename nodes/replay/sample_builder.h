#pragma once
// Collects the items of a sample reply: copies small pieces one behind the other, and shares the memory of large ones.
// Lives in the stack of a sample.

#include <cstdint>

#include "nodes/replay/chunk.h"
#include "nodes/replay/replay_messages.h"

namespace lp::replay {

class SampleBuilder {
 public:
  // There will be at most `count` items, in all likelihood of the same size.
  explicit SampleBuilder(std::uint32_t count) : count_(count) {}

  void add(const SampledItem& item);
  // Adds a piece to the last item.
  void add(const Piece& piece, std::size_t row_bytes);
  std::uint32_t size() const { return static_cast<std::uint32_t>(samples_.items.size()); }
  // Returns the samples. The builder is spent.
  Samples take();

 private:
  std::byte* room(std::size_t bytes);

  const std::uint32_t count_;
  Samples samples_{};
  std::byte* small_ = nullptr;  // samples_.small, for writing
  std::size_t used_ = 0;        // bytes of it
};

}  // namespace lp::replay
