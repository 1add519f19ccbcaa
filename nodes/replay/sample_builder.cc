#include "nodes/replay/sample_builder.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace lp::replay {

namespace {
constexpr std::uint32_t kReserved = 1024;  // room for more items comes with them
}

void SampleBuilder::add(const SampledItem& item) {
  if (samples_.items.empty()) {
    samples_.items.reserve(std::min(count_, kReserved));
    samples_.pieces.reserve(std::min(count_, kReserved));
  }
  samples_.items.push_back(item);
}

void SampleBuilder::add(const Piece& piece, std::size_t row_bytes) {
  const Chunk& chunk = *piece.chunk;
  const std::size_t begin = piece.first * row_bytes;
  const std::size_t bytes = chunk.compressed() ? chunk.size() : piece.steps * row_bytes;
  SampledPiece& added = samples_.pieces.emplace_back();
  added = {.steps = piece.steps, .bytes = static_cast<std::uint32_t>(bytes)};
  if (chunk.compressed()) {
    added.first = piece.first;
    added.chunk_steps = chunk.steps();
  }
  if (bytes >= Samples::kLarge) {
    samples_.large.push_back(chunk.slice(chunk.compressed() ? 0 : begin, bytes));
  } else {
    chunk.copy(chunk.compressed() ? 0 : begin, bytes, room(bytes));
  }
}

Samples SampleBuilder::take() {
  samples_.small.shrink(used_);
  return std::move(samples_);
}

// Pieces begin at multiples of 8.
std::byte* SampleBuilder::room(std::size_t bytes) {
  const std::size_t rounded = (bytes + 7) / 8 * 8;
  if (used_ + rounded > samples_.small.size()) {
    const std::size_t left =
        std::min<std::size_t>(kReserved, count_ - std::min<std::size_t>(count_, samples_.items.size() - 1));
    Buffer larger = Buffer::uninitialized(std::max(used_ + rounded * left, 2 * used_ + rounded));
    std::byte* const memory = larger.edit().data();
    if (used_ > 0) std::memcpy(memory, small_, used_);
    samples_.small = std::move(larger);
    small_ = memory;
  }
  std::byte* const at = small_ + used_;
  used_ += rounded;
  return at;
}

}  // namespace lp::replay
