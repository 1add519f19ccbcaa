// Centred ranks against their closed form.
#include "programs/evolution/ranks.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "lp/base/random.h"

namespace lp {
namespace {

TEST(RanksTest, ReachFromMinusAHalfToAHalf) {
  EXPECT_EQ(centred_ranks(std::vector<double>{30, -2, 7, 1e300, 8}),
            (std::vector<float>{0.25F, -0.5F, -0.25F, 0.5F, 0}));
  EXPECT_EQ(centred_ranks(std::vector<double>{3, 4}), (std::vector<float>{-0.5F, 0.5F}));
  EXPECT_EQ(centred_ranks(std::vector<double>{3}), (std::vector<float>{0}));
  EXPECT_TRUE(centred_ranks({}).empty());
}

TEST(RanksTest, EqualValuesShareTheMeanOfTheirRanks) {
  EXPECT_EQ(centred_ranks(std::vector<double>{5, 1, 5, 5, 9}), (std::vector<float>{0, -0.5F, 0, 0, 0.5F}));
  EXPECT_EQ(centred_ranks(std::vector<double>(6, 1.5)), std::vector<float>(6, 0));
  EXPECT_EQ(centred_ranks(std::vector<double>{0, -0.0}), std::vector<float>(2, 0));
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(centred_ranks(std::vector<double>{kInfinity, -kInfinity, 0}), (std::vector<float>{0.5F, -0.5F, 0}));
}

TEST(RanksTest, OfDistinctValuesAreTheirPlacesInOrder) {
  std::vector<double> values(101);
  std::iota(values.begin(), values.end(), 0);
  Random(1, "order").shuffle(std::span(values));
  const std::vector<float> ranks = centred_ranks(values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_FLOAT_EQ(ranks[i], static_cast<float>(values[i] / 100 - 0.5));
  }
}

}  // namespace
}  // namespace lp
