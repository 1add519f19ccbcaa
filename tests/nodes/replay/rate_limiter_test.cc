// Rate limiters against the inequalities that define them, under random operations.
#include "nodes/replay/rate_limiter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lp/base/error.h"
#include "lp/base/random.h"

namespace lp::replay {
namespace {

// The counters of a table, and the conditions as they are written in its specification.
struct LimiterModel {
  double ratio = 1;
  double min_size = 1;
  double min_difference = -INFINITY;
  double max_difference = INFINITY;
  double inserts = 0;
  double samples = 0;
  double removals = 0;

  bool can_sample(double n) const {
    return inserts - removals >= min_size && inserts * ratio - samples - n >= min_difference;
  }
  bool can_insert(double n) const {
    return inserts + n - removals <= min_size || (inserts + n) * ratio - samples <= max_difference;
  }
};

void expect_equal(const RateLimits& limits, LimiterModel model) {
  constexpr int kCalls = 1'000'000;
  RateLimiter limiter(limits);
  Random random(5, "limiter");
  for (int i = 0; i < kCalls && !testing::Test::HasFailure(); ++i) {
    for (const std::uint64_t n : {1U, 3U}) {
      EXPECT_EQ(limiter.can_sample(n), model.can_sample(static_cast<double>(n)));
      EXPECT_EQ(limiter.can_insert(n), model.can_insert(static_cast<double>(n)));
    }
    switch (random.below(3)) {
      case 0:
        if (!limiter.can_insert()) break;
        limiter.inserted();
        ++model.inserts;
        break;
      case 1:
        if (!limiter.can_sample()) break;
        limiter.sampled();
        ++model.samples;
        break;
      default:
        if (model.inserts - model.removals < 1 || random.below(4) > 0) break;
        limiter.removed();
        ++model.removals;
    }
  }
  EXPECT_EQ(static_cast<double>(limiter.counts().inserts), model.inserts);
  EXPECT_GT(model.inserts, 100);
  EXPECT_GT(model.samples, 100);
}

TEST(ReplayRateLimiterTest, MinSizeIsItsDefinition) { expect_equal(min_size(7), {.min_size = 7}); }

TEST(ReplayRateLimiterTest, SampleToInsertRatioIsItsDefinition) {
  expect_equal(sample_to_insert(2.5, 10, 6),
               {.ratio = 2.5, .min_size = 10, .min_difference = 25 - 6, .max_difference = 25 + 6});
  expect_equal(sample_to_insert(0.25, 3, 1),
               {.ratio = 0.25, .min_size = 3, .min_difference = 0.75 - 1, .max_difference = 0.75 + 1});
}

TEST(ReplayRateLimiterTest, QueueIsItsDefinition) {
  expect_equal(queue_of(5), {.ratio = 1, .min_size = 1, .min_difference = 0, .max_difference = 5});
}

TEST(ReplayRateLimiterTest, LimitsUnderWhichNothingCouldGoOnAreRefused) {
  EXPECT_THROW(sample_to_insert(0, 10, 6), Error);
  EXPECT_THROW(sample_to_insert(4, 10, 3.9), Error);
  EXPECT_THROW(sample_to_insert(0.1, 10, 0.5), Error);
  EXPECT_THROW(sample_to_insert(1, 10, std::numeric_limits<double>::quiet_NaN()), Error);
  EXPECT_THROW(RateLimiter({.min_size = 0}), Error);
  EXPECT_THROW(RateLimiter({.samples_per_insert = -1}), Error);
  EXPECT_THROW(RateLimiter({.min_difference = 2, .max_difference = 1}), Error);
}

}  // namespace
}  // namespace lp::replay
