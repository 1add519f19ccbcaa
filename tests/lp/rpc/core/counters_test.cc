// Counters of calls: here the sums; lp/program's tests count real calls.

#include "lp/rpc/core/counters.h"

#include <gtest/gtest.h>

#include "lp/rpc/core/method.h"

namespace lp {
namespace {

using std::chrono::microseconds;

TEST(LatencyHistogram, SaysBelowWhichPowerOfTwoAShareStayed) {
  LatencyHistogram histogram;
  EXPECT_EQ(histogram.quantile(0.5), Duration::zero());
  histogram.counts[3] = 98;  // 4 to 7 ns
  histogram.counts[10] = 2;  // 512 to 1023 ns
  EXPECT_EQ(histogram.quantile(0.5), Duration(8));
  EXPECT_EQ(histogram.quantile(0.98), Duration(8));
  EXPECT_EQ(histogram.quantile(0.99), Duration(1024));
}

TEST(EdgeCounters, CountsEachMethodByItself) {
  static constexpr internal::MethodInfo kPush{.name = "push"};
  static constexpr internal::MethodInfo kPull{.name = "pull"};
  internal::EdgeCounters counters;
  for (int i = 0; i < 20; ++i) {
    internal::CallTimer timer(&counters.of(kPush));
    timer.sent(100);
    timer.received(10);
    timer.end(/*failed=*/i % 4 == 0, /*callee=*/1);
  }
  counters.of(kPull).begin();
  counters.of(kPull).took(microseconds(3));
  ASSERT_EQ(counters.statistics().size(), 2u);
  for (const CallStatistics& one : counters.statistics()) {
    const bool push = one.method == "push";
    EXPECT_EQ(one.calls, push ? 20u : 1u);
    EXPECT_EQ(one.ended, push ? 20u : 0u);
    EXPECT_EQ(one.errors, push ? 5u : 0u);
    EXPECT_EQ(one.bytes_sent, push ? 2000u : 0u);
    EXPECT_EQ(one.bytes_received, push ? 200u : 0u);
    if (!push) {
      EXPECT_EQ(one.latency.quantile(0.5), Duration(4096));
    }
  }
}

TEST(EdgeCounters, KnowTheNewestIncarnationThatHasAnswered) {
  static constexpr internal::MethodInfo kPush{.name = "push"};
  static constexpr internal::MethodInfo kPull{.name = "pull"};
  internal::EdgeCounters counters;
  EXPECT_EQ(counters.answered(), 0U);
  internal::CallTimer(&counters.of(kPush)).end(/*failed=*/false, /*callee=*/2);
  internal::CallTimer(&counters.of(kPull)).end(/*failed=*/false, /*callee=*/1);
  internal::CallTimer(&counters.of(kPull)).end(/*failed=*/true, /*callee=*/3);
  internal::CallTimer(&counters.of(kPush)).end(/*failed=*/false, /*callee=*/0);  // one-way
  EXPECT_EQ(counters.answered(), 2U);
}

}  // namespace
}  // namespace lp
