// The answers of processes about calls and metrics: they arrive as they were sent, as far as a message has room.

#include "launchers/control/measurement.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "launchers/control/control_generated.h"
#include "launchers/control/control_messages.h"
#include "launchers/control/message_stream.h"
#include "lp/rpc/core/counters.h"

namespace lp::launch {
namespace {

using Kind = MetricSample::Kind;

Measurement arrived(control::MeasuredT message) {
  const auto bytes = pack(0, 1, std::move(message));
  EXPECT_LT(bytes.size(), kSmallMessages);
  return unpack_measured(*unpack(bytes)->body_as_Measured());
}

TEST(Measurement, ArrivesAsItWasSent) {
  CallStatistics calls{.caller = "worker/0", .callee = "server", .method = "push", .calls = 9, .latency_sum = 700};
  calls.sent_sizes.counts[2] = 4;
  calls.received_sizes.counts[0] = 5;
  MetricSamples metrics{.samples = {{.node = "worker/0",
                                     .name = "wait",
                                     .help = "a help",
                                     .kind = Kind::histogram,
                                     .labels = {{"a", "1"}, {"b", "2"}},
                                     .value = 2.5,
                                     .bounds = {1, 2},
                                     .counts = {3, 4, 5}}},
                        .dropped = 6,
                        .shared_memory = 7};
  const Measurement got = arrived(pack_measured(measurement_of({calls}, metrics)));
  ASSERT_EQ(got.calls->size(), 1U);
  EXPECT_EQ(got.calls->front().calls, 9U);
  EXPECT_EQ(got.calls->front().latency_sum, 700U);
  EXPECT_EQ(got.calls->front().sent_sizes, (std::vector<std::uint64_t>{0, 0, 4}));
  EXPECT_EQ(got.calls->front().received_sizes, (std::vector<std::uint64_t>{5}));
  ASSERT_EQ(got.metrics->samples.size(), 1U);
  const MetricSample& sample = got.metrics->samples.front();
  EXPECT_EQ(sample.node + " " + sample.name + " " + sample.help, "worker/0 wait a help");
  EXPECT_EQ(sample.kind, Kind::histogram);
  EXPECT_EQ(sample.labels, (MetricLabels{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(sample.value, 2.5);
  EXPECT_EQ(sample.bounds, (std::vector<double>{1, 2}));
  EXPECT_EQ(sample.counts, (std::vector<std::uint64_t>{3, 4, 5}));
  EXPECT_EQ(got.metrics->dropped, 6U);
  EXPECT_EQ(got.metrics->shared_memory, 7U);
}

TEST(Measurement, OfVeryManyMethodsAndMetricsFitsAMessage) {
  CallStatistics call{
      .caller = std::string(500, 'a'), .callee = std::string(500, 'b'), .method = std::string(500, 'c')};
  call.latency.counts.fill(1);
  call.sent_sizes.counts.fill(1);
  call.received_sizes.counts.fill(1);
  MetricSamples metrics;
  for (int i = 0; i < 10000; ++i) metrics.samples.push_back({.node = "worker/0", .name = std::string(128, 'n')});
  const Measurement got = arrived(pack_measured(measurement_of(std::vector<CallStatistics>(5000, call), metrics)));
  EXPECT_GT(got.calls->size(), 500U);
  EXPECT_EQ(got.calls->size() + got.left_out, 5000U);
  EXPECT_GT(got.metrics->samples.size(), 500U);
  EXPECT_EQ(got.metrics->samples.size() + got.metrics->dropped, 10000U);
}

TEST(Measurement, MalformedMetricsAreLeftOut) {
  control::MeasuredT message;
  for (const int kind : {2, 3}) {  // a histogram without counts, and no kind at all
    message.metrics.push_back(std::make_unique<control::MetricT>());
    message.metrics.back()->kind = static_cast<std::uint8_t>(kind);
  }
  EXPECT_TRUE(arrived(std::move(message)).metrics->samples.empty());
}

}  // namespace
}  // namespace lp::launch
