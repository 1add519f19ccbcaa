// Noise: its distribution, its indices, and the numbers that a seed decides.
#include "programs/evolution/noise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lp/base/error.h"
#include "lp/base/hash.h"
#include "lp/base/random.h"

namespace lp {
namespace {

constexpr std::uint64_t kNoiseSeed = 7;

std::vector<float> numbers(const Noise& noise, std::uint64_t index, std::size_t size) {
  std::vector<float> room;
  const std::span<const float> at = noise.at(index, size, room);
  return {at.begin(), at.end()};
}

// The largest distance between the distribution of the numbers and the normal one (Kolmogorov and Smirnov).
double distance_from_normal(std::vector<float> sample) {
  std::sort(sample.begin(), sample.end());
  double most = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double expected = 0.5 * std::erfc(-static_cast<double>(sample[i]) / std::sqrt(2.0));
    most = std::max({most, std::abs(expected - static_cast<double>(i) / static_cast<double>(sample.size())),
                     std::abs(expected - static_cast<double>(i + 1) / static_cast<double>(sample.size()))});
  }
  return most;
}

TEST(NoiseTest, NumbersOfBothKindsAreNormal) {
  constexpr std::size_t kSize = 100'000;
  const double bound = 1.95 / std::sqrt(static_cast<double>(kSize));  // a right generator exceeds it once in 1000
  EXPECT_LT(distance_from_normal(numbers(*table_noise(kNoiseSeed, noise_table(kNoiseSeed, kSize)), 0, kSize)), bound);
  EXPECT_LT(distance_from_normal(numbers(*counter_noise(kNoiseSeed), 3, kSize)), bound);
  std::vector<float> first;  // the first numbers of many indices
  for (std::uint64_t i = 0; i < kSize; ++i) first.push_back(numbers(*counter_noise(kNoiseSeed), i, 1)[0]);
  EXPECT_LT(distance_from_normal(first), bound);
}

// Philox itself is tested against known answers in tests/lp/base/random_test.cc.
TEST(NoiseTest, TheCountersNumbersAreThoseOfPhiloxByBoxAndMuller) {
  constexpr std::uint64_t kIndex = (std::uint64_t{3} << 32) + 11;
  const std::uint64_t key = mix64(fnv1a("noise")) ^ kNoiseSeed;
  std::vector<std::uint32_t> words;
  for (std::uint32_t counter = 16; counter < 32; ++counter) {  // the second block
    for (const std::uint32_t word : internal::philox(
             {counter, 0, 11, 3}, {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)})) {
      words.push_back(word);
    }
  }
  const std::vector<float> found = numbers(*counter_noise(kNoiseSeed), kIndex, 128);
  for (std::size_t i = 0; i < 32; ++i) {
    const double radius = std::sqrt(-2 * std::log((std::floor(words[i] / 256.0) + 0.5) / 0x1p24));
    const std::uint32_t angle = words[32 + i];
    const double quarters = (angle >> 30) + (((angle >> 8) & 0x3FFFFF) + 0.5) / 0x1p22 - 0.5;
    EXPECT_NEAR(found[64 + i], radius * std::cos(quarters * std::numbers::pi / 2), 2e-6);
    EXPECT_NEAR(found[96 + i], radius * std::sin(quarters * std::numbers::pi / 2), 2e-6);
  }
}

TEST(NoiseTest, TheSameSeedAndIndexGiveTheSameNumbersAndOthersDoNot) {
  const std::vector<float> expected = numbers(*counter_noise(kNoiseSeed), 5, 100);
  EXPECT_EQ(numbers(*counter_noise(kNoiseSeed), 5, 100), expected);
  EXPECT_NE(numbers(*counter_noise(kNoiseSeed), 6, 100), expected);
  EXPECT_NE(numbers(*counter_noise(kNoiseSeed + 1), 5, 100), expected);
  EXPECT_EQ(numbers(*counter_noise(kNoiseSeed), 5, 50), std::vector<float>(expected.begin(), expected.begin() + 50));
}

// Results that users have kept stay reproducible.
TEST(NoiseTest, NumbersKeepTheirBits) {
  const std::vector<float> found = numbers(*counter_noise(kNoiseSeed), 5, 1003);
  EXPECT_EQ(fnv1a({reinterpret_cast<const char*>(found.data()), found.size() * sizeof(float)}), 0x2c258043ba549ec1U);
}

TEST(NoiseTest, AnIndexIsAPlaceInTheTableWhichIsReadInPlace) {
  const Array<float> table = noise_table(kNoiseSeed, 1000);
  const auto noise = table_noise(kNoiseSeed, table);
  std::vector<float> room;
  EXPECT_EQ(noise->at(17, 10, room).data(), table.data() + 17);
  EXPECT_TRUE(room.empty());
  for (std::uint64_t trial = 0; trial < 1000; ++trial) EXPECT_LE(noise->index(trial, 990), 10U);
  std::vector<int> hits(11);
  for (std::uint64_t trial = 0; trial < 1100; ++trial) ++hits[noise->index(trial, 990)];
  EXPECT_GT(*std::min_element(hits.begin(), hits.end()), 50);  // 100 are expected, with a deviation of 10
}

TEST(NoiseTest, ATableThatIsTooSmallIsRefused) {
  const auto noise = table_noise(kNoiseSeed, noise_table(kNoiseSeed, 100));
  EXPECT_EQ(noise->index(0, 100), 0U);
  try {
    noise->index(0, 101);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.text(),
              "a noise table of 100 numbers is too small for 101 parameters: raise NoiseOptions::table_size, or use "
              "NoiseKind::counter");
  }
  std::vector<float> room;
  EXPECT_THROW(noise->at(91, 10, room), Error);
}

}  // namespace
}  // namespace lp
