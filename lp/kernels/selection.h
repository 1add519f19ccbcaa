#pragma once
// Work of several kernels on a queue: the search for values that are not finite, and the selection of the k largest.
// Each owns the memory that its kernels need between them.
//
// Owned by a node that owns the queue, too; one thread at a time.

#include <cstdint>

#include "lp/kernels/queue.h"

namespace lp::kernels {

// The position of the first value that is not finite, or kAllFinite, stays in the memory of the queue, at result(), for
// kernels that come later.
class BadSearch {
 public:
  explicit BadSearch(Queue& queue);

  // Looks through the values, when the queue comes to it.
  void run(const float* values, std::uint64_t size);
  const std::uint64_t* result() const { return least_.data(); }

 private:
  static constexpr std::uint64_t kPositions = 1 << 16;
  static constexpr std::uint64_t kFew = 1 << 8;

  Queue* queue_;
  Room<std::uint64_t> positions_;
  Room<std::uint64_t> few_;
  Room<std::uint64_t> least_;
};

// The k values with the largest magnitudes out of `size`; see top_k.h.
class TopK {
 public:
  // k is 1 or more, up to size, which is below 2^32.
  TopK(Queue& queue, std::uint64_t size, std::uint64_t k);

  // Selects from `size` values, when the queue comes to it.
  void run(const float* values);
  const Room<std::uint32_t>& positions() const { return positions_; }  // ascending
  const Room<float>& kept() const { return kept_; }

 private:
  static constexpr std::uint64_t kMostParts = 1 << 16;
  static constexpr std::uint64_t kFew = 1 << 8;
  static constexpr std::uint64_t kLeast = 64;  // values of a part

  Queue* queue_;
  std::uint64_t k_;
  Parts parts_;  // their division
  Parts row_;    // the division of a row of numbers, one for each part
  Room<Selection> selection_;
  Room<std::uint32_t> counts_;
  Room<std::uint64_t> few_;
  Room<std::uint64_t> sums_;
  Room<std::uint64_t> before_;
  Room<std::uint32_t> positions_;
  Room<float> kept_;
};

}  // namespace lp::kernels
