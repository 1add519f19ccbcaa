// An evaluator: it evaluates the servers' parameters, logs the values, and ends the program when they are good enough.
#include "nodes/evaluator.h"

#include <gtest/gtest.h>

#include "lp/lp.h"
#include "tests/nodes/parameters/two_servers.h"

namespace lp {
namespace {

using test::TwoServers;

EvaluatorOptions looks_for(float target) {
  return {.period = std::chrono::milliseconds(1),
          .judge =
              [](std::uint64_t) {
                return Judge{.size = TwoServers::kSize, .values = [](const Eigen::VectorXf& parameters) {
                               EXPECT_EQ(parameters.size(), static_cast<Eigen::Index>(TwoServers::kSize));
                               return MetricValues{{"least", parameters.minCoeff()}, {"most", parameters.maxCoeff()}};
                             }};
              },
          .reached = [target](const MetricValues& values) { return values.front().second >= target; }};
}

TEST(EvaluatorTest, LooksUntilItIsGoodEnoughAndEndsTheProgramThen) {
  Handle<Metrics> metrics("metrics");
  Handle<Evaluator> evaluator("evaluator");
  TwoServers two([&](Program& program, const GroupHandle<ParameterServer>& servers) {
    metrics = program.add<Metrics>({.name = "metrics"});
    evaluator = program.add<Evaluator>({.name = "evaluator"}, servers, metrics, looks_for(3));
  });
  const auto looks = [client = two.run().client(evaluator)] { return client.call<&Evaluator::looks>(); };
  for (int step = 0; step < 3; ++step) {
    for (const std::uint64_t before = looks(); looks() < before + 2;) {  // so that no look sees two steps
    }
    two.step();
  }
  two.run().wait_finished();
  EXPECT_TRUE(two.run().failed().empty());
  EXPECT_EQ(two.run().stop_reason(), "after 3 updates it is good enough: least 3.000000, most 3.000000");
  const MetricSeries series = two.run().client(metrics).call<&Metrics::all>();
  ASSERT_FALSE(series.at("least").empty());
  for (const char* const name : {"least", "most"}) {  // the values are those of the step
    for (const MetricPoint& point : series.at(name)) EXPECT_EQ(point.value, static_cast<double>(point.step));
  }
  EXPECT_EQ(series.at("least").back().value, 3);
  const std::optional<Parameters> reached = two.run().client(evaluator).call<&Evaluator::reached>();
  ASSERT_TRUE(reached);
  EXPECT_EQ(reached->step, 3U);
  EXPECT_EQ(reached->values, Eigen::VectorXf::Constant(TwoServers::kSize, 3));
}

TEST(EvaluatorTest, GoesOnWhenServersAreRestored) {
  Handle<Metrics> metrics("metrics");
  TwoServers two([&](Program& program, const GroupHandle<ParameterServer>& servers) {
    metrics = program.add<Metrics>({.name = "metrics"});
    program.add<Evaluator>({.name = "evaluator"}, servers, metrics, looks_for(1));
  });
  two.run().restart({"server/0", "server/1"});
  two.step();
  two.run().wait_finished();
  EXPECT_TRUE(two.run().failed().empty());
  EXPECT_EQ(two.run().client(metrics).call<&Metrics::latest>().at("least").value, 1);
}

TEST(EvaluatorTest, RefusesToLookWithoutAJudge) {
  Program program("nobody");
  const auto metrics = program.add<Metrics>({.name = "metrics"});
  program.add<Evaluator>({.name = "evaluator"}, GroupHandle<ParameterServer>("server", 0), metrics, EvaluatorOptions{});
  LocalRun run(program, {}, LocalRun::kNothingHere);
  run.start_one("evaluator", 1);
  ASSERT_EQ(run.failed().count("evaluator"), 1U);
  EXPECT_EQ(run.failed().at("evaluator").text(), "an evaluator needs a judge, and a period above 0, not 1 s");
}

}  // namespace
}  // namespace lp
