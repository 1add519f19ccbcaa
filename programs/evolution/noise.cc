// Built with -ffp-contract=off: a fused multiply-add would change the last bit of the numbers.
#include "programs/evolution/noise.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/hash.h"
#include "lp/base/random.h"

namespace lp {
namespace {

constexpr std::size_t kBlock = 64;                   // numbers that are computed together
constexpr std::uint64_t kTable = ~std::uint64_t{0};  // an index that no trial has

using Words = std::array<std::uint32_t, kBlock>;
using Block = std::array<float, kBlock>;

constexpr std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
constexpr std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

Words random_words(std::array<std::uint32_t, 2> key, std::uint64_t index, std::uint64_t block) {
  Words words;
  for (std::uint64_t i = 0; i < kBlock / 4; ++i) {
    const std::uint64_t counter = block * (kBlock / 4) + i;
    const auto four = internal::philox({low(counter), high(counter), low(index), high(index)}, key);
    std::copy(four.begin(), four.end(), words.begin() + static_cast<std::ptrdiff_t>(4 * i));
  }
  return words;
}

// The natural logarithm of x in (0, 1), to float's precision: x = m 2^e with m in [√½, √2), and log m = 2 artanh f with
// f = (m − 1) / (m + 1), |f| < 0.172.
float logarithm(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x) - 0x3F3504F3U;  // √½
  const auto exponent = static_cast<std::int32_t>(bits) >> 23;
  const auto m = std::bit_cast<float>((bits & 0x7FFFFFU) + 0x3F3504F3U);
  const float f = (m - 1) / (m + 1);
  const float square = f * f;
  const float series = 1 + square * (1.0F / 3 + square * (1.0F / 5 + square * (1.0F / 7 + square * (1.0F / 9))));
  return static_cast<float>(exponent) * std::numbers::ln2_v<float> + 2 * f * series;
}

// Box and Muller, "A note on the generation of random normal deviates", Annals of Mathematical Statistics 29, 1958: a
// radius and an angle give two numbers. The angle is a quarter of the circle, and up to π/4 around its middle; series
// give its sine and cosine. There are no branches and no calls, so that the compiler uses vectors.
Block normal_block(const Words& words) {
  Block out;
  for (std::size_t i = 0; i < kBlock / 2; ++i) {
    const float uniform = (static_cast<float>(words[i] >> 8) + 0.5F) * 0x1p-24F;
    const float radius = std::sqrt(-2 * logarithm(uniform));
    const std::uint32_t word = words[kBlock / 2 + i];
    const float turn = (static_cast<float>((word >> 8) & 0x3FFFFFU) + 0.5F) * 0x1p-22F - 0.5F;
    const float x = turn * (std::numbers::pi_v<float> / 2);
    const float xx = x * x;
    const float sine = x * (1 + xx * (-1.0F / 6 + xx * (1.0F / 120 + xx * (-1.0F / 5040 + xx * (1.0F / 362880)))));
    const float cosine = 1 + xx * (-1.0F / 2 + xx * (1.0F / 24 + xx * (-1.0F / 720 + xx * (1.0F / 40320))));
    const bool odd = (word & 0x40000000U) != 0;
    const bool second_half = (word & 0x80000000U) != 0;
    const float first = odd ? -sine : cosine;  // a quarter turn, and half a turn
    const float second = odd ? cosine : sine;
    out[i] = radius * (second_half ? -first : first);
    out[kBlock / 2 + i] = radius * (second_half ? -second : second);
  }
  return out;
}

void normal_numbers(std::uint64_t seed, std::uint64_t index, std::span<float> out) {
  const std::uint64_t key = mix64(fnv1a("noise")) ^ seed;
  for (std::uint64_t block = 0; block * kBlock < out.size(); ++block) {
    const std::span<float> rest = out.subspan(block * kBlock);
    const Block numbers = normal_block(random_words({low(key), high(key)}, index, block));
    std::copy_n(numbers.begin(), std::min(kBlock, rest.size()), rest.begin());
  }
}

class TableNoise final : public Noise {
 public:
  TableNoise(std::uint64_t seed, Array<float> table) : seed_(seed), table_(std::move(table)) {}

  std::uint64_t index(std::uint64_t trial, std::size_t size) const override {
    check(size);
    return Random(seed_, "noise index", trial).below(table_.size() - size + 1);
  }
  std::span<const float> at(std::uint64_t index, std::size_t size, std::vector<float>&) const override {
    check(size);
    if (index > table_.size() - size) {
      throw Error(ErrorKind::failed, std::to_string(size) + " numbers from " + std::to_string(index) +
                                         " on do not lie in a noise table of " + std::to_string(table_.size()));
    }
    return table_.span().subspan(index, size);
  }

 private:
  void check(std::size_t size) const {
    if (size <= table_.size()) return;
    throw Error(ErrorKind::failed, "a noise table of " + std::to_string(table_.size()) + " numbers is too small for " +
                                       std::to_string(size) +
                                       " parameters: raise NoiseOptions::table_size, or use NoiseKind::counter");
  }

  const std::uint64_t seed_;
  const Array<float> table_;
};

class CounterNoise final : public Noise {
 public:
  explicit CounterNoise(std::uint64_t seed) : seed_(seed) {}

  std::uint64_t index(std::uint64_t trial, std::size_t) const override { return trial; }
  std::span<const float> at(std::uint64_t index, std::size_t size, std::vector<float>& room) const override {
    room.resize(size);
    normal_numbers(seed_, index, room);
    return room;
  }

 private:
  const std::uint64_t seed_;
};

}  // namespace

Array<float> noise_table(std::uint64_t seed, std::size_t size) {
  auto table = Array<float>::uninitialized(size);
  normal_numbers(seed, kTable, table.edit());
  return table;
}

std::unique_ptr<Noise> table_noise(std::uint64_t seed, Array<float> table) {
  return std::make_unique<TableNoise>(seed, std::move(table));
}

std::unique_ptr<Noise> counter_noise(std::uint64_t seed) { return std::make_unique<CounterNoise>(seed); }

std::unique_ptr<Noise> make_noise(NoiseKind kind, std::uint64_t seed, const Array<float>& table) {
  return kind == NoiseKind::table ? table_noise(seed, table) : counter_noise(seed);
}

}  // namespace lp
