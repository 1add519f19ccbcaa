#pragma once
// Normal numbers as a function of (key, index, position): the stream of a counter-based generator for each index,
// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011), made normal by the method of
// Box and Muller. The same bits on every processor and every device.
//
// Pure functions: any thread.

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "lp/base/random.h"
#include "lp/kernels/host_device.h"

namespace lp::kernels {

// The positions of a stream lie in blocks of 64. A block is made of 16 counters; the words of the first 8 of them give
// 32 radii, those of the others 32 angles. A radius and an angle give the number at the radius's position, and the one
// 32 positions after it.
constexpr std::uint64_t kNormalBlock = 64;

// The natural logarithm of x in (0, 1), to float's precision: x = m 2^e with m in [√½, √2), and log m = 2 artanh f with
// f = (m − 1) / (m + 1), |f| < 0.172.
LP_HOST_DEVICE inline float logarithm(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x) - 0x3F3504F3U;  // √½
  const auto exponent = static_cast<std::int32_t>(bits) >> 23;
  const auto m = std::bit_cast<float>((bits & 0x7FFFFFU) + 0x3F3504F3U);
  const float f = (m - 1) / (m + 1);
  const float square = f * f;
  const float series = 1 + square * (1.0F / 3 + square * (1.0F / 5 + square * (1.0F / 7 + square * (1.0F / 9))));
  return static_cast<float>(exponent) * std::numbers::ln2_v<float> + 2 * f * series;
}

struct NormalPair {
  float first;
  float second;
};

// Box and Muller, "A note on the generation of random normal deviates", Annals of Mathematical Statistics 29, 1958: a
// radius and an angle give two numbers. The angle is a quarter of the circle, and up to π/4 around its middle; series
// give its sine and cosine. There are no branches and no calls, so that the compiler uses vectors.
LP_HOST_DEVICE inline NormalPair normal_pair(std::uint32_t radius_word, std::uint32_t angle_word) {
  const float uniform = (static_cast<float>(radius_word >> 8) + 0.5F) * 0x1p-24F;
  const float radius = std::sqrt(-2 * logarithm(uniform));
  const float turn = (static_cast<float>((angle_word >> 8) & 0x3FFFFFU) + 0.5F) * 0x1p-22F - 0.5F;
  const float x = turn * (std::numbers::pi_v<float> / 2);
  const float xx = x * x;
  const float sine = x * (1 + xx * (-1.0F / 6 + xx * (1.0F / 120 + xx * (-1.0F / 5040 + xx * (1.0F / 362880)))));
  const float cosine = 1 + xx * (-1.0F / 2 + xx * (1.0F / 24 + xx * (-1.0F / 720 + xx * (1.0F / 40320))));
  const bool odd = (angle_word & 0x40000000U) != 0;
  const bool second_half = (angle_word & 0x80000000U) != 0;
  const float first = odd ? -sine : cosine;  // a quarter turn, and half a turn
  const float second = odd ? cosine : sine;
  return {.first = radius * (second_half ? -first : first), .second = radius * (second_half ? -second : second)};
}

// Four words of a stream.
LP_HOST_DEVICE inline std::array<std::uint32_t, 4> random_words(std::uint64_t key, std::uint64_t index,
                                                                std::uint64_t counter) {
  using internal::high_half;
  using internal::low_half;
  return internal::philox({low_half(counter), high_half(counter), low_half(index), high_half(index)},
                          {low_half(key), high_half(key)});
}

// A thread of a device makes eight numbers of a stream: 4 neighbours, and the 4 that are 32 positions after them.
struct Eight {
  float at[8];
};

// The number of eights that cover `size` positions.
LP_HOST_DEVICE constexpr std::uint64_t eights(std::uint64_t size) {
  return (size / kNormalBlock + (size % kNormalBlock == 0 ? 0 : 1)) * (kNormalBlock / 8);
}

// The position of number i of an eight.
LP_HOST_DEVICE constexpr std::uint64_t position_in_stream(std::uint64_t eight, unsigned i) {
  return eight / 8 * kNormalBlock + eight % 8 * 4 + i % 4 + i / 4 * (kNormalBlock / 2);
}

// The numbers of an index, from the generator.
struct CounterNumbers {
  std::uint64_t key;

  LP_HOST_DEVICE Eight at(std::uint64_t index, std::uint64_t eight, std::uint64_t) const {
    const std::uint64_t counter = eight / 8 * (kNormalBlock / 4) + eight % 8;
    const std::array<std::uint32_t, 4> radii = random_words(key, index, counter);
    const std::array<std::uint32_t, 4> angles = random_words(key, index, counter + kNormalBlock / 8);
    Eight numbers;
    for (unsigned i = 0; i < 4; ++i) {
      const NormalPair pair = normal_pair(radii[i], angles[i]);
      numbers.at[i] = pair.first;
      numbers.at[i + 4] = pair.second;
    }
    return numbers;
  }
};

// The same from a table, where an index is a position. Numbers from `size` on are 0.
struct TableNumbers {
  const float* table;

  LP_HOST_DEVICE Eight at(std::uint64_t index, std::uint64_t eight, std::uint64_t size) const {
    Eight numbers{};
    for (unsigned i = 0; i < 8; ++i) {
      const std::uint64_t position = position_in_stream(eight, i);
      if (position < size) numbers.at[i] = table[index + position];
    }
    return numbers;
  }
};

}  // namespace lp::kernels
