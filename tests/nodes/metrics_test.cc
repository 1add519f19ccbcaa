// Metrics: the points that a long series keeps, refused calls, and the table.
#include "nodes/metrics.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "lp/lp.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

std::vector<std::uint64_t> steps_of(const std::vector<MetricPoint>& points) {
  std::vector<std::uint64_t> steps;
  for (const MetricPoint& point : points) steps.push_back(point.step);
  return steps;
}

TEST(MetricsTest, NodesSayTheirValuesAndOthersReadThem) {
  Program program("metrics");
  const auto handle = program.add<Metrics>({.name = "metrics"});
  LocalRun run(program);
  const Client<Metrics> client = run.client(handle);
  client.send<&Metrics::log>(std::uint64_t{1}, MetricValues{{"loss", 0.5}, {"accuracy", 0.8}});
  client.send<&Metrics::log>(std::uint64_t{2}, MetricValues{{"loss", 0.25}});
  const MetricSeries all = client.call<&Metrics::all>();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(steps_of(all.at("loss")), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(all.at("loss").back().value, 0.25);
  EXPECT_LE(all.at("loss").front().seconds, all.at("loss").back().seconds);
  EXPECT_EQ(client.call<&Metrics::latest>().at("accuracy").value, 0.8);
}

TEST(MetricsTest, ALongSeriesKeepsPointsAtEqualDistancesFromItsBeginningOn) {
  Metrics metrics({.points = 4});
  for (std::uint64_t step = 0; step < 30; ++step) {
    metrics.log(step, {{"loss", 1.0}});
    const std::vector<std::uint64_t> steps = steps_of(metrics.all().at("loss"));
    ASSERT_LE(steps.size(), 4U);
    ASSERT_EQ(steps.front(), 0U);
    for (std::size_t i = 2; i < steps.size(); ++i) ASSERT_EQ(steps[i] - steps[i - 1], steps[1]);
    ASSERT_GE(steps.size(), step == 0 ? 1U : 2U);
  }
  EXPECT_EQ(steps_of(metrics.all().at("loss")), (std::vector<std::uint64_t>{0, 8, 16, 24}));
  EXPECT_EQ(metrics.latest().at("loss").step, 29U);
}

TEST(MetricsTest, TooManySeriesAreRefusedAndNothingOfThemIsKept) {
  Metrics metrics({.points = 4, .series = 2});
  metrics.log(0, {{"a", 1}});
  EXPECT_THROW(metrics.log(1, {{"a", 2}, {"b", 2}, {"c", 2}}), Error);
  EXPECT_EQ(metrics.latest().at("a").step, 0U);
  metrics.log(1, {{"a", 2}, {"b", 2}});
  EXPECT_EQ(metrics.all().size(), 2U);
  EXPECT_THROW(Metrics({.points = 1}), Error);
}

TEST(MetricsTest, TheTableQuotesNamesAndKeepsValuesExactEnough) {
  const MetricSeries series{{"loss, \"smooth\"", {{.step = 3, .seconds = 0.5, .value = 0.1}}},
                            {"x", {{.step = 4, .seconds = 2, .value = std::numeric_limits<double>::quiet_NaN()}}}};
  EXPECT_EQ(to_csv(series),
            "series,step,seconds,value\r\n"
            "\"loss, \"\"smooth\"\"\",3,0.500000,0.1\r\n"
            "\"x\",4,2.000000,nan\r\n");
}

}  // namespace
}  // namespace lp
