#include "nodes/replay/sum_tree.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace lp::replay {

void SumTree::set(std::uint32_t slot, double weight) {
  if (slot >= leaves_) grow(std::size_t{slot} + 1);
  std::size_t i = leaves_ + slot;
  sums_[i] = weight;
  for (i /= 2; i > 0; i /= 2) sums_[i] = sums_[2 * i] + sums_[2 * i + 1];
}

std::uint32_t SumTree::at(double point) const {
  std::size_t i = 1;
  while (i < leaves_) {
    i *= 2;
    // A rounding error may lead beyond the last weight of a part: then the part before it is meant.
    if (point >= sums_[i] && sums_[i + 1] > 0) {
      point -= sums_[i];
      ++i;
    }
  }
  return static_cast<std::uint32_t>(i - leaves_);
}

void SumTree::grow(std::size_t slots) {
  constexpr std::size_t kFirst = 64;
  const std::size_t leaves = std::max(kFirst, std::bit_ceil(slots));
  std::vector<double> sums(2 * leaves);
  std::copy(sums_.begin() + static_cast<std::ptrdiff_t>(leaves_), sums_.end(),
            sums.begin() + static_cast<std::ptrdiff_t>(leaves));
  for (std::size_t i = leaves - 1; i > 0; --i) sums[i] = sums[2 * i] + sums[2 * i + 1];
  sums_ = std::move(sums);
  leaves_ = leaves;
}

}  // namespace lp::replay
