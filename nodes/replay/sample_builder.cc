#include "nodes/replay/sample_builder.h"

#include <algorithm>
#include <utility>

namespace lp::replay {

namespace {

constexpr std::uint32_t kReserved = 1024;  // room for more items comes with them

std::size_t rounded(std::size_t bytes) { return (bytes + 7) / 8 * 8; }  // pieces begin at multiples of 8

}  // namespace

SampledItem& SampleBuilder::add_item() {
  if (samples_.items.empty()) {
    samples_.items.reserve(std::min(count_, kReserved));
    samples_.pieces.reserve(std::min(count_, kReserved));
  }
  return samples_.items.emplace_back();
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
    if (small_.empty()) small_.reserve(rounded(bytes) * std::min(count_, kReserved));
    chunk.append(chunk.compressed() ? 0 : begin, bytes, small_);
    small_.resize(rounded(small_.size()));
  }
}

Samples SampleBuilder::take() {
  samples_.small = Buffer::copy_of(small_);
  return std::move(samples_);
}

}  // namespace lp::replay
