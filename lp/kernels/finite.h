#pragma once
// The search for values that are not finite, and what BadValues::clip does to them.
//
// Values and pure functions: any thread.

#include <bit>
#include <cmath>
#include <cstdint>

#include "lp/kernels/host_device.h"

namespace lp::kernels {

constexpr std::uint64_t kAllFinite = ~std::uint64_t{0};  // instead of the position of a value that is not

LP_HOST_DEVICE inline bool is_finite(float value) {
  constexpr std::uint32_t kInfinity = 0x7f80'0000;
  return (std::bit_cast<std::uint32_t>(value) & kInfinity) != kInfinity;
}

// NaN becomes 0; every other value is brought within ± 1.
LP_HOST_DEVICE inline float clipped_to_one(float value) {
  if (std::isnan(value)) return 0;
  return value < -1 ? -1.0F : value > 1 ? 1.0F : value;
}

// Writes `positions` numbers: number k is the first position, out of those that are k modulo `positions`, whose value
// is not finite, or kAllFinite. LeastOf makes one number of them.
struct FindBad {
  const float* values;
  std::uint64_t size;
  std::uint64_t positions;
  std::uint64_t* found;

  LP_HOST_DEVICE std::uint64_t indices() const { return positions; }
  LP_HOST_DEVICE void operator()(std::uint64_t index) const {
    std::uint64_t bad = kAllFinite;
    for (std::uint64_t i = index; i < size && bad == kAllFinite; i += positions) {
      if (!is_finite(values[i])) bad = i;
    }
    found[index] = bad;
  }
};

// Writes `results` numbers: number k is the least out of those that are k modulo `results`.
struct LeastOf {
  const std::uint64_t* numbers;
  std::uint64_t count;
  std::uint64_t results;
  std::uint64_t* least;

  LP_HOST_DEVICE std::uint64_t indices() const { return results; }
  LP_HOST_DEVICE void operator()(std::uint64_t index) const {
    std::uint64_t result = ~std::uint64_t{0};
    for (std::uint64_t i = index; i < count; i += results) result = numbers[i] < result ? numbers[i] : result;
    least[index] = result;
  }
};

}  // namespace lp::kernels
