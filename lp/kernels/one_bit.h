#pragma once
// 1-bit compression, as nodes/parameters/gradient_encoding.h describes it: a bit for each value, and for each column of
// values the means of those below 0 and of the others.
//
// Values and pure functions: any thread.

#include <cstddef>
#include <cstdint>

#include "lp/kernels/host_device.h"

namespace lp::kernels {

LP_HOST_DEVICE inline bool is_high(float value) { return value >= 0; }

LP_HOST_DEVICE constexpr std::uint64_t words_of_bits(std::uint64_t size) {
  return size / 64 + (size % 64 == 0 ? 0 : 1);
}

LP_HOST_DEVICE constexpr std::uint64_t columns_of(std::uint64_t size, std::uint32_t column) {
  return size / column + (size % column == 0 ? 0 : 1);
}

// The value that a bit stands for.
LP_HOST_DEVICE inline float one_bit_value(const float* means, const std::uint64_t* bits, std::uint32_t column,
                                          std::uint64_t i) {
  return means[2 * (i / column) + (bits[i / 64] >> (i % 64) & 1U)];
}

// Sets the bits of the values that are high: an index is a word.
struct OneBitBits {
  const float* values;
  std::uint64_t size;
  std::uint64_t* bits;

  LP_HOST_DEVICE std::uint64_t indices() const { return words_of_bits(size); }
  LP_HOST_DEVICE void operator()(std::uint64_t word) const {
    std::uint64_t set = 0;
    for (std::uint64_t i = 64 * word; i < size && i < 64 * word + 64; ++i) {
      if (is_high(values[i])) set |= std::uint64_t{1} << (i % 64);
    }
    bits[word] = set;
  }
};

// Writes low and high of each column, an index: each is the mean of the values that it stands for.
struct OneBitMeans {
  const float* values;
  std::uint64_t size;
  std::uint32_t column;
  float* means;

  LP_HOST_DEVICE std::uint64_t indices() const { return columns_of(size, column); }
  LP_HOST_DEVICE void operator()(std::uint64_t number) const {
    double low = 0;
    double high = 0;
    std::uint64_t count = 0;
    std::uint64_t highs = 0;
    for (std::uint64_t i = number * column; i < size && count < column; ++i, ++count) {
      const float value = values[i];
      if (is_high(value)) {
        high += static_cast<double>(value);
        ++highs;
      } else {
        low += static_cast<double>(value);
      }
    }
    means[2 * number] = highs == count ? 0.0F : static_cast<float>(low / static_cast<double>(count - highs));
    means[2 * number + 1] = highs == 0 ? 0.0F : static_cast<float>(high / static_cast<double>(highs));
  }
};

// Writes the decoded values.
struct OneBitDecode {
  const float* means;
  const std::uint64_t* bits;
  std::uint32_t column;
  float* to;
  std::uint64_t size;

  LP_HOST_DEVICE std::uint64_t indices() const { return size; }
  LP_HOST_DEVICE void operator()(std::uint64_t i) const { to[i] = one_bit_value(means, bits, column, i); }
};

// Subtracts the decoded values from the residual.
struct OneBitSubtract {
  const float* means;
  const std::uint64_t* bits;
  std::uint32_t column;
  float* residual;
  std::uint64_t size;

  LP_HOST_DEVICE std::uint64_t indices() const { return size; }
  LP_HOST_DEVICE void operator()(std::uint64_t i) const { residual[i] -= one_bit_value(means, bits, column, i); }
};

}  // namespace lp::kernels
