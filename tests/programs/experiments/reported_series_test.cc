// Values that nodes have reported become series over environment steps.
#include "programs/experiments/reported_series.h"

#include <gtest/gtest.h>

#include <limits>

#include "launchers/record/saved_curves.h"

namespace lp {
namespace {

using Points = std::vector<std::pair<std::uint64_t, double>>;

Points points_of(const MetricSeries& series, const std::string& name) {
  Points out;
  for (const MetricPoint& one : series.at(name)) out.emplace_back(one.step, one.value);
  return out;
}

TEST(ReportedSeries, TheLearnersValuesAreOverTheStepsOfTheSameReport) {
  const NodeCurves learner = {{"reward", {{1, 0, 5}, {2, 0, 6}, {4, 0, 7}}},
                              {"steps", {{1, 0, 100}, {2, 0, 200}, {3, 0, 300}, {4, 0, 400}}}};
  const NodeCurves evaluator = {{"evaluation", {{0, 0, 1}, {150, 0, 2}}}};
  const MetricSeries series = series_over_steps(learner, evaluator);
  EXPECT_EQ(series.size(), 2);
  EXPECT_EQ(points_of(series, "reward"), Points({{100, 5}, {200, 6}, {400, 7}}));
  EXPECT_EQ(points_of(series, "evaluation"), Points({{0, 1}, {150, 2}}));
}

TEST(ReportedSeries, ThoseOfARestoredLearnerAreInTheOrderOfTheSteps) {
  const NodeCurves learner = {{"reward", {{1, 0, 5}, {2, 0, 6}, {3, 0, 7}}},
                              {"steps", {{1, 0, 100}, {2, 0, 250}, {3, 0, 200}}}};
  EXPECT_EQ(points_of(series_over_steps(learner, NodeCurves()), "reward"), Points({{100, 5}, {200, 7}, {250, 6}}));
}

TEST(ReportedSeries, ValuesWithoutStepsAreLeftOut) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const NodeCurves learner = {{"reward", {{1, 0, 5}, {2, 0, 6}, {3, 0, 7}, {4, 0, 8}}},
                              {"steps", {{1, 0, nan}, {2, 0, -1}, {3, 0, 1e30}}}};
  EXPECT_TRUE(series_over_steps(learner, NodeCurves()).empty());
  EXPECT_TRUE(series_over_steps(NodeCurves(), NodeCurves()).empty());
}

}  // namespace
}  // namespace lp
