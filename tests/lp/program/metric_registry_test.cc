// The metrics that a node defines: what they count, which names they may have, and how many there may be.

#include "lp/program/metric_registry.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "lp/program/metrics.h"
#include "lp/program/runtime.h"
#include "tests/error_of.h"

namespace lp {
namespace {

using Kind = MetricSample::Kind;

MetricSamples sampled(const MetricRegistry& registry) {
  MetricSamples all;
  registry.sample("worker/1", all);
  return all;
}

TEST(MetricRegistry, ASeriesIsTheSameForTheSameNameAndLabels) {
  MetricRegistry registry;
  MetricCell* const first = registry.series(Kind::gauge, "loss", "the loss", {{"b", "2"}, {"a", "1"}});
  EXPECT_EQ(registry.series(Kind::gauge, "loss", "", {{"a", "1"}, {"b", "2"}}), first);
  EXPECT_NE(registry.series(Kind::gauge, "loss", "", {{"a", "1"}}), first);
  first->value = 3;
  const MetricSamples all = sampled(registry);
  ASSERT_EQ(all.samples.size(), 2U);
  EXPECT_EQ(all.samples[1].node, "worker/1");
  EXPECT_EQ(all.samples[1].help, "the loss");
  EXPECT_EQ(all.samples[1].labels, (MetricLabels{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(all.samples[1].value, 3);
}

TEST(MetricRegistry, NamesThatPrometheusOrLpDoNotAllowAreRefusedWithASentence) {
  MetricRegistry registry;
  for (const std::string name :
       {"", "9a", "a-b", "a b", "a:b", "lp_calls", "__a", "a_bucket", "a_sum", "a_count", "a_total", "ä"}) {
    const std::string error = test::error_of([&] { registry.series(Kind::gauge, name, "", {}); });
    EXPECT_NE(error.find("needs another name"), std::string::npos) << name << ": " << error;
  }
  EXPECT_NE(test::error_of([&] { registry.series(Kind::gauge, std::string(129, 'a'), "", {}); }).find("at most 128"),
            std::string::npos);
  for (const std::string label : {"", "9a", "a-b", "__a", "node", "group", "le"}) {
    const std::string error = test::error_of([&] { registry.series(Kind::gauge, "a", "", {{label, "x"}}); });
    EXPECT_NE(error.find("cannot have the label"), std::string::npos) << label << ": " << error;
  }
  EXPECT_NE(test::error_of([&] {
              registry.series(Kind::gauge, "a", "", {{"x", "1"}, {"x", "2"}});
            }).find("twice"),
            std::string::npos);
  EXPECT_TRUE(sampled(registry).samples.empty());
}

TEST(MetricRegistry, ANameHasOneKindAndOneSetOfBounds) {
  MetricRegistry registry;
  registry.series(Kind::histogram, "a", "", {}, {1, 2});
  EXPECT_EQ(test::error_of([&] { registry.series(Kind::gauge, "a", "", {}); }),
            "the metric \"a\" is a histogram of this node already");
  EXPECT_EQ(test::error_of([&] {
              registry.series(Kind::histogram, "a", "", {}, {1, 3});
            }),
            "the metric \"a\" has other bounds already");
  for (const std::vector<double>& bounds :
       {std::vector<double>{1, 1}, {2, 1}, {std::numeric_limits<double>::infinity()}}) {
    EXPECT_NE(test::error_of([&] { registry.series(Kind::histogram, "b", "", {}, bounds); }).find("finite and grow"),
              std::string::npos);
  }
}

TEST(MetricRegistry, TooManySeriesAreDroppedAndCounted) {
  MetricRegistry registry;
  for (int i = 0; i < 100000; ++i) registry.series(Kind::counter, "a_total", "", {{"user", std::to_string(i)}});
  for (std::size_t i = 0; i < 2 * MetricRegistry::kNames; ++i) {
    registry.series(Kind::counter, "b" + std::to_string(i) + "_total", "", {});
  }
  EXPECT_NE(registry.series(Kind::counter, "a_total", "", {{"user", "7"}}), nullptr);
  EXPECT_EQ(registry.series(Kind::counter, "a_total", "", {{"user", "777"}}), nullptr);
  const MetricSamples all = sampled(registry);
  EXPECT_EQ(all.samples.size(), MetricRegistry::kSeries + MetricRegistry::kNames - 1);
  EXPECT_EQ(all.dropped, 100000 - MetricRegistry::kSeries + MetricRegistry::kNames + 1 + 1);
}

TEST(MetricRegistry, ValuesOfLabelsAndHelpAreCutToWholeCharacters) {
  MetricRegistry registry;
  registry.series(Kind::gauge, "a", std::string(127, 'x') + "ä",
                  {{"x",
                    "ok\xff"
                    "bad"}});
  const MetricSamples all = sampled(registry);
  EXPECT_EQ(all.samples[0].help, std::string(127, 'x'));
  EXPECT_EQ(all.samples[0].labels[0].second, "ok");
}

struct Measured {
  explicit Measured(Context& context)
      : steps(context, "steps", "steps done"),
        loss(context, "loss"),
        waits(context, "wait_seconds", "", {}, {1, 2}),
        sizes(context, "sizes") {
    steps.add();
    steps.add(2.5);
    loss.set(4);
    loss.add(-1);
    for (const double value : {0.5, 1.0, 1.5, 99.0}) waits.observe(value);
    sizes.observe(std::numeric_limits<double>::quiet_NaN());
    refusal = test::error_of([&] { steps.add(-1); });
  }
  metric::Counter steps;
  metric::Gauge loss;
  metric::Histogram waits;
  metric::Histogram sizes;
  std::string refusal;
  std::string sentence() const { return refusal; }
  using Remote = Methods<&Measured::sentence>;
};

TEST(Metrics, OfANodeAreThoseThatItDefinesAndItsQueue) {
  struct SeenEvents final : Runtime::Observer {
    void on_event(NodeEvent event) override {
      if (std::holds_alternative<NodeEvent::Ready>(event.what)) ready.set();
    }
    Event ready;
  } events;
  Program program("metrics");
  const auto measured = program.add<Measured>({.name = "measured"}, context);
  Runtime runtime(program, {}, events);
  MetricSamples none;
  runtime.add_metrics(0, none);
  EXPECT_TRUE(none.samples.empty());
  runtime.start(0, 1);
  ASSERT_TRUE(events.ready.wait(after(std::chrono::seconds(30))));
  EXPECT_EQ(runtime.client(measured).call<&Measured::sentence>(),
            "a counter only grows: add() needs an amount of 0 or more");
  MetricSamples all;
  runtime.add_metrics(0, all);
  ASSERT_EQ(all.samples.size(), 5U);
  EXPECT_EQ(all.samples[0].name, "lp_node_queue_length");
  EXPECT_EQ(all.samples[0].value, 0);
  EXPECT_EQ(all.samples[1].name, "loss");
  EXPECT_EQ(all.samples[1].value, 3);
  EXPECT_EQ(all.samples[2].name, "sizes");
  EXPECT_EQ(all.samples[2].counts.back(), 1U);
  EXPECT_NE(all.samples[2].value, all.samples[2].value);
  EXPECT_EQ(all.samples[3].name, "steps_total");
  EXPECT_EQ(all.samples[3].value, 3.5);
  EXPECT_EQ(all.samples[3].help, "steps done");
  EXPECT_EQ(all.samples[4].counts, (std::vector<std::uint64_t>{2, 1, 1}));
  EXPECT_EQ(all.samples[4].value, 102);
}

}  // namespace
}  // namespace lp
