// What nodes report beside numbers: histograms of values, and the bounds of a report.

#include "lp/program/progress.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "lp/lp.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

double all_of(const ValueHistogram& values) {
  return std::accumulate(values.buckets.begin(), values.buckets.end(), 0.0);
}

TEST(ValueHistogram, CountsNumbersAndLeavesTheRestOut) {
  const double inf = std::numeric_limits<double>::infinity();
  const ValueHistogram values = histogram_of(std::vector<double>{1, std::nan(""), 3, inf, -inf, 2});
  EXPECT_EQ(values.count, 3U);
  EXPECT_EQ(values.least, 1);
  EXPECT_EQ(values.most, 3);
  EXPECT_EQ(values.sum, 6);
  EXPECT_EQ(values.squares, 14);
  EXPECT_EQ(values.buckets.front(), 1);
  EXPECT_EQ(values.buckets.back(), 1);
  EXPECT_EQ(all_of(values), 3);
  EXPECT_EQ(histogram_of(std::vector<float>()).count, 0U);
}

TEST(ValueHistogram, IsThatOfAnyContainerAndAnyNumbers) {
  const Eigen::VectorXf same = Eigen::VectorXf::Constant(7, 2);
  EXPECT_EQ(histogram_of(same).buckets.front(), 7);
  EXPECT_EQ(histogram_of(same).bound(0), 2);
  const double most = std::numeric_limits<double>::max();
  const ValueHistogram wide = histogram_of(std::vector<double>{-most, 0, most});
  EXPECT_EQ(all_of(wide), 3);
  EXPECT_EQ(wide.buckets[ValueHistogram::kBuckets / 2], 1);
  EXPECT_TRUE(std::isfinite(wide.bound(3)));
  EXPECT_EQ(wide.sum, 0);
  EXPECT_EQ(wide.squares, most);
  EXPECT_EQ(histogram_of(std::vector<double>{most, most}).sum, most);
  EXPECT_EQ(histogram_of(std::vector<int>{1, 2}).sum, 3);
}

TEST(ProgressBounds, ALongReportIsCutAndItsNumbersComeFirst) {
  Progress progress{.step = 7, .values = {{std::string(1000, 'n'), 1}}};
  for (int i = 0; i < 100; ++i) progress.texts.emplace_back("text", std::string(100'000, 'x'));
  progress.texts.front().second = std::string(Progress::kTextBytes - 1, 'x') + "\xC3\xA4";  // not within a character
  const Progress cut = progress.bounded();
  EXPECT_EQ(cut.step, 7U);
  ASSERT_EQ(cut.values.size(), 1U);
  EXPECT_EQ(cut.values[0].first.size(), Progress::kNameBytes);
  EXPECT_EQ(cut.texts.front().second.size(), Progress::kTextBytes - 1);
  EXPECT_EQ(cut.texts.size(), Progress::kMostBytes / Progress::kTextBytes - 1);
  for (int i = 0; i < 100'000; ++i) progress.values.emplace_back("value", 1);
  EXPECT_LT(progress.bounded().values.size(), 10'000U);
  EXPECT_TRUE(progress.bounded().texts.empty());
}

TEST(ProgressBounds, WhatAReportLosesIsSaidOnce) {
  Program program("reports");
  program.function({.name = "worker"}, [](Context& context) {
    Progress progress{.step = 3, .texts = {{"sample", std::string(2 * Progress::kTextBytes, 'x')}}};
    context.report(progress);
    progress.values.assign(10'000, {"value", 1});
    context.report(progress);
  });
  testing::internal::CaptureStderr();
  {
    LocalRun run(program);
    run.wait_finished();
  }
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      "lp: worker: report() of step 3 was too long: the text \"sample\" is cut at 16K; later reports that are too "
      "long are cut without a message\n");
}

TEST(ProgressBounds, TheNumberOfLostValuesIsSaid) {
  Program program("reports");
  program.function({.name = "worker"}, [](Context& context) {
    context.report({.values = std::vector<std::pair<std::string, double>>(10'000, {"value", 1})});
  });
  testing::internal::CaptureStderr();
  {
    LocalRun run(program);
    run.wait_finished();
  }
  EXPECT_NE(
      testing::internal::GetCapturedStderr().find("of 10000 values are left out, because a report has at most 256K"),
      std::string::npos);
}

}  // namespace
}  // namespace lp
