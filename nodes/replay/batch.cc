#include "nodes/replay/batch.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <unordered_map>
#include <utility>

#include "lp/base/error.h"
#include "nodes/replay/chunk_compression.h"

namespace lp::replay {
namespace {

// Finds the bytes of the pieces of a reply, in their order.
class PieceReader {
 public:
  PieceReader(Samples& samples, std::size_t row_bytes, std::vector<Buffer>& memory)
      : samples_(samples), row_bytes_(row_bytes), memory_(memory) {}

  // The address of the first row.
  const std::byte* next(const SampledPiece& piece) {
    const std::span<const std::byte> bytes = piece.bytes >= Samples::kLarge ? next_large() : next_small(piece.bytes);
    const std::uint64_t steps = piece.chunk_steps == 0 ? piece.steps : piece.chunk_steps;
    if (piece.steps == 0 || std::uint64_t{piece.first} + piece.steps > steps) malformed();
    if (piece.chunk_steps > 0) return decompressed(bytes, piece.chunk_steps) + piece.first * row_bytes_;
    if (bytes.size() != piece.steps * row_bytes_) malformed();
    return bytes.data();
  }

 private:
  [[noreturn]] static void malformed() {
    throw_failed("a sample of a replay table does not have the columns that the sampler expects");
  }

  std::span<const std::byte> next_large() {
    if (large_ == samples_.large.size()) malformed();
    memory_.push_back(std::move(samples_.large[large_++]));
    return memory_.back().bytes();
  }
  std::span<const std::byte> next_small(std::size_t size) {
    const std::size_t begin = small_;
    small_ += (size + 7) / 8 * 8;
    if (small_ > samples_.small.size()) malformed();
    return samples_.small.bytes().subspan(begin, size);
  }
  // Items of a batch often are in the same chunk.
  const std::byte* decompressed(std::span<const std::byte> bytes, std::uint32_t steps) {
    const std::byte*& rows = decompressed_[bytes.data()];
    if (rows == nullptr) {
      memory_.push_back(decompress(bytes, steps * row_bytes_));
      rows = memory_.back().data();
    }
    return rows;
  }

  Samples& samples_;
  const std::size_t row_bytes_;
  std::vector<Buffer>& memory_;
  std::size_t large_ = 0;
  std::size_t small_ = 0;
  std::unordered_map<const std::byte*, const std::byte*> decompressed_{};
};

}  // namespace

std::vector<std::uint64_t> Batch::keys() const {
  std::vector<std::uint64_t> keys(size());
  std::transform(items_.begin(), items_.end(), keys.begin(), [](const SampledItem& one) { return one.key; });
  return keys;
}

std::vector<float> Batch::importance_weights(double beta) const {
  if (!(beta >= 0 && beta <= 1)) {
    throw_failed("the exponent of importance weights is " + std::to_string(beta) + ": give a number from 0 to 1");
  }
  std::vector<double> weights(size());
  double largest = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    weights[i] = std::pow(static_cast<double>(items_[i].table_size) * items_[i].probability, -beta);
    largest = std::max(largest, weights[i]);
  }
  std::vector<float> scaled(size());
  std::transform(weights.begin(), weights.end(), scaled.begin(),
                 [largest](double weight) { return static_cast<float>(weight / largest); });
  return scaled;
}

std::size_t Batch::steps(std::size_t i) const {
  std::size_t steps = 0;
  for (const Rows& one : places(i)) steps += one.steps;
  return steps;
}

std::span<const std::byte> Batch::rows(std::size_t i) const {
  const Rows& first = places(i).front();
  return {first.data, first.steps * layout().row_bytes()};
}

void Batch::append(Samples samples) {
  std::size_t pieces = 0;
  for (const SampledItem& one : samples.items) pieces += one.pieces;
  if (pieces != samples.pieces.size())
    throw_failed("a sample of a replay table is malformed: its pieces do not fit its items");
  PieceReader reader(samples, layout().row_bytes(), memory_);
  memory_.reserve(memory_.size() + samples.large.size() + 1);
  rows_.reserve(rows_.size() + pieces);
  std::size_t next = rows_.size();
  for (const SampledPiece& one : samples.pieces) rows_.push_back({.data = reader.next(one), .steps = one.steps});
  for (const SampledItem& one : samples.items) {
    first_.push_back(next);
    next += one.pieces;
  }
  items_.insert(items_.end(), samples.items.begin(), samples.items.end());
  if (!samples.small.empty()) memory_.push_back(std::move(samples.small));
}

Batch Batch::take(std::size_t count) {
  if (count >= size()) return std::exchange(*this, Batch(layout_));
  const auto end = static_cast<std::ptrdiff_t>(count);
  const auto end_rows = static_cast<std::ptrdiff_t>(first_[count]);
  Batch taken(layout_);
  taken.items_.assign(items_.begin(), items_.begin() + end);
  taken.first_.assign(first_.begin(), first_.begin() + end);
  taken.rows_.assign(rows_.begin(), rows_.begin() + end_rows);
  taken.memory_ = memory_;
  items_.erase(items_.begin(), items_.begin() + end);
  first_.erase(first_.begin(), first_.begin() + end);
  rows_.erase(rows_.begin(), rows_.begin() + end_rows);
  for (std::size_t& one : first_) one -= static_cast<std::size_t>(end_rows);
  return taken;
}

const std::byte* Batch::row(std::size_t i, std::size_t step) const {
  if (i >= size()) throw_failed("a batch of " + std::to_string(size()) + " items has no item " + std::to_string(i));
  std::size_t left = step;
  for (const Rows& one : places(i)) {
    if (left < one.steps) return one.data + left * layout().row_bytes();
    left -= one.steps;
  }
  throw_failed("an item of " + std::to_string(steps(i)) + " steps has no step " + std::to_string(step));
}

void Batch::copy_column(std::size_t column, std::size_t step, std::span<std::byte> to) const {
  const std::size_t offset = layout().offset(column);
  const std::size_t bytes = size() == 0 ? 0 : to.size() / size();
  for (std::size_t i = 0; i < size(); ++i) std::memcpy(to.data() + i * bytes, row(i, step) + offset, bytes);
}

}  // namespace lp::replay
