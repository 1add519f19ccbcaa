#pragma once
// Weights of slots, with their sum, and the slot at a point of the cumulated weights, each in logarithmic time: the sum
// tree of Schaul, Quan, Antonoglou and Silver, "Prioritized experience replay", ICLR 2016, appendix B.2.1. Every change
// computes the sums above it anew from their two parts, so that no rounding error grows with the number of changes.
//
// Owned by a selector; one thread at a time.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lp::replay {

class SumTree {
 public:
  // Sets the weight of a slot, which must be finite and at least 0. A slot that was never set has weight 0.
  void set(std::uint32_t slot, double weight);
  double weight(std::uint32_t slot) const { return slot < leaves_ ? sums_[leaves_ + slot] : 0; }
  double total() const { return leaves_ == 0 ? 0 : sums_[1]; }
  // Returns the slot whose part of the cumulated weights has `point`, from 0 to below total(). Its weight is not 0.
  // total() must be above 0.
  std::uint32_t at(double point) const;

 private:
  void grow(std::size_t slots);

  std::size_t leaves_ = 0;      // a power of two, or 0
  std::vector<double> sums_{};  // sums_[i] = sums_[2i] + sums_[2i + 1]; the leaves begin at leaves_
};

}  // namespace lp::replay
