#include "lp/base/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/hash.h"

namespace lp {
namespace {

static_assert(std::uniform_random_bit_generator<Random>);

using Words = std::array<std::uint32_t, 4>;

// The vectors for "philox4x32 10" that the authors publish with Random123 (kat_vectors).
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(internal::philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(internal::philox({~0U, ~0U, ~0U, ~0U}, {~0U, ~0U}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(internal::philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Hash64, KnownAnswersOfFnv1a) {
  EXPECT_EQ(fnv1a(""), 0xcbf29ce484222325U);
  EXPECT_EQ(fnv1a("a"), 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(fnv1a("foobar"), 0x85944171f73967e8U);
  EXPECT_EQ(fnv1a("bar", fnv1a("foo")), fnv1a("foobar"));
}

// Users rely on these numbers: a failure here means that old runs can no longer be repeated.
TEST(Random, IsStableForEver) {
  Random random(42, "worker/3", 7);
  EXPECT_EQ(random(), 12081230507945695765U);
  EXPECT_EQ(random(), 11328482331776326880U);
  EXPECT_EQ(random(), 14876591696947329888U);
  EXPECT_EQ(random.below(1000), 918U);
  EXPECT_EQ(random.uniform(), 0x1.b396cac77d40dp-1);
  EXPECT_EQ(random.normal(), 0x1.1c162d634a9b2p+0);
  EXPECT_EQ(random.normal(), -0x1.5c220f6ca582fp-1);
  EXPECT_EQ(random.normal(), 0x1.62bea03333b9ap+0);
}

TEST(Random, IsAFunctionOfSeedNameAndStep) {
  const auto first = [](std::uint64_t seed, std::string_view name, std::uint64_t step) {
    return Random(seed, name, step)();
  };
  EXPECT_EQ(first(1, "worker/0", 5), first(1, "worker/0", 5));
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (const char* name : {"", "a", "b", "worker/0", "worker/1", "worker/10"}) {
      for (std::uint64_t step = 0; step < 10; ++step) seen.insert(first(seed, name, step));
      seen.insert(first(seed, name, std::uint64_t{1} << 40));
    }
  }
  EXPECT_EQ(seen.size(), 10U * 6U * 11U);
}

TEST(Random, ACopyRepeatsTheOriginal) {
  Random random(1, "a");
  random.normal();
  Random copy = random;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(copy.normal(), random.normal());
}

TEST(Random, BelowIsUniform) {
  Random random(1, "below");
  constexpr int kDraws = 70'000;
  std::array<int, 7> counts{};
  for (int i = 0; i < kDraws; ++i) ++counts.at(random.below(7));
  double chi_square = 0;
  for (const int count : counts) chi_square += std::pow(count - kDraws / 7, 2) / (kDraws / 7);
  EXPECT_LT(chi_square, 22.5);  // 6 degrees of freedom: 0.1 % of seeds would exceed it
  EXPECT_EQ(random.below(1), 0U);
  // A bound for which plain x % bound would give the lower half twice as often as the upper.
  const std::uint64_t bound = (std::uint64_t{1} << 63) + (std::uint64_t{1} << 62);
  int lower = 0;
  for (int i = 0; i < 10'000; ++i) lower += random.below(bound) < bound / 2;
  EXPECT_NEAR(lower, 5'000, 200);
  EXPECT_THROW(random.below(0), Error);
}

TEST(Random, UniformAndNormalHaveTheirMoments) {
  Random random(1, "moments");
  constexpr int kDraws = 200'000;
  double sum = 0;
  double square = 0;
  double fourth = 0;
  double uniform = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double u = random.uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    uniform += u;
    const double x = random.normal();
    sum += x;
    square += x * x;
    fourth += x * x * x * x;
  }
  // Five standard errors each.
  EXPECT_NEAR(uniform / kDraws, 0.5, 5 * std::sqrt(1.0 / 12 / kDraws));
  EXPECT_NEAR(sum / kDraws, 0, 5 * std::sqrt(1.0 / kDraws));
  EXPECT_NEAR(square / kDraws, 1, 5 * std::sqrt(2.0 / kDraws));
  EXPECT_NEAR(fourth / kDraws, 3, 5 * std::sqrt(96.0 / kDraws));
}

TEST(Random, PortableLogIsWithinTwoUnitsOfTheLastPlace) {
  Random random(1, "log");
  for (int i = 0; i < 100'000; ++i) {
    const double x = random.uniform() + 0x1p-53;
    EXPECT_NEAR(internal::portable_log(x), std::log(x), 2 * 0x1p-52 * std::abs(std::log(x)) + 0x1p-60) << x;
  }
}

TEST(Random, ShuffleGivesEveryOrderEquallyOften) {
  Random random(1, "shuffle");
  std::map<std::array<int, 4>, int> counts;
  for (int i = 0; i < 24'000; ++i) {
    std::array<int, 4> items{0, 1, 2, 3};
    random.shuffle(std::span(items));
    ++counts[items];
  }
  ASSERT_EQ(counts.size(), 24U);
  for (const auto& [order, count] : counts) EXPECT_NEAR(count, 1'000, 160);  // five standard deviations
  std::vector<int> none;
  random.shuffle(std::span(none));
}

}  // namespace
}  // namespace lp
