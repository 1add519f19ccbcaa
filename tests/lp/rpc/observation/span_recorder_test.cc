// Which spans are recorded, and that records of all threads are collected.

#include "lp/rpc/observation/span_recorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "lp/rpc/observation/span_ring.h"

namespace lp {
namespace {

constexpr std::size_t kEverything = std::numeric_limits<std::size_t>::max();

void write(SpanRecorder& recorder, std::uint64_t from, std::uint64_t count) {
  for (std::uint64_t id = from; id < from + count; ++id) recorder.record({.id = id});
}

std::size_t count_samples(SpanRecorder& recorder, std::size_t roots) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < roots; ++i) count += recorder.samples() ? 1U : 0U;
  return count;
}

TEST(SpanRecorder, RecordsNothingUntilItIsStarted) {
  SpanRecorder recorder;
  EXPECT_FALSE(recorder.on());
  EXPECT_FALSE(recorder.samples());
  write(recorder, 1, 3);
  recorder.start({.share = 1});
  EXPECT_TRUE(recorder.take(kEverything).records.empty());
}

TEST(SpanRecorder, SamplesTheShareThatItIsGiven) {
  SpanRecorder recorder;
  recorder.start({.share = 1});
  EXPECT_EQ(count_samples(recorder, 1000), 1000U);
  recorder.start({.share = 0.25});
  const std::size_t quarter = count_samples(recorder, 100000);
  EXPECT_GT(quarter, 24000U);  // seven standard deviations
  EXPECT_LT(quarter, 26000U);
  recorder.start({.share = 0});
  EXPECT_EQ(count_samples(recorder, 1000), 0U);
}

TEST(SpanRecorder, KeepsWhatWasBegunWhenNoRootBeginsAnyMore) {
  SpanRecorder recorder;
  recorder.start({.share = 1});
  recorder.start({.share = 0});
  write(recorder, 1, 2);
  EXPECT_EQ(recorder.take(kEverything).records.size(), 2U);
}

TEST(SpanRecorder, AThreadThatHasRecordedMuchBeginsNoSpans) {
  SpanRecorder recorder;
  recorder.start({.share = 1, .bounded = true});
  EXPECT_EQ(count_samples(recorder, 1000), 1000U);  // nothing is recorded yet
  write(recorder, 1, SpanRecorder::kMostCredit + 1000 * SpanRecorder::kRecordsPerSecond);
  EXPECT_FALSE(recorder.samples());
  EXPECT_EQ(count_samples(recorder, 1000), 0U);
  EXPECT_FALSE(recorder.samples_below());
  bool elsewhere = false, below = false;
  spawn("other", [&] {
    elsewhere = recorder.samples();
    below = recorder.samples_below();
  }).join();
  EXPECT_TRUE(elsewhere);
  EXPECT_TRUE(below);
  recorder.start({.share = 1});
  EXPECT_TRUE(recorder.samples());
  EXPECT_TRUE(recorder.samples_below());
}

TEST(SpanRecorder, CollectsFromAllThreadsAlsoThoseThatHaveEnded) {
  constexpr std::uint64_t kThreads = 4, kRecords = 100;
  SpanRecorder recorder;
  recorder.start({.share = 1});
  for (std::uint64_t thread = 0; thread < kThreads; ++thread) {
    spawn("writer", [&] { write(recorder, thread * kRecords, kRecords); }).join();
  }
  std::vector<bool> seen(kThreads * kRecords);
  std::size_t rounds = 0;
  for (RecordedSpans spans; !(spans = recorder.take(150)).records.empty(); ++rounds) {
    EXPECT_LE(spans.records.size(), 150U);
    EXPECT_EQ(spans.lost, 0U);
    for (const SpanRecord& record : spans.records) seen[record.id] = true;
  }
  EXPECT_GE(rounds, 3U);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), static_cast<std::ptrdiff_t>(kThreads * kRecords));
}

TEST(SpanRecorder, CountsWhatIsLost) {
  SpanRecorder recorder;
  recorder.start({.share = 1});
  write(recorder, 0, SpanRing::kSize + 5);
  const RecordedSpans spans = recorder.take(kEverything);
  EXPECT_EQ(spans.records.size(), SpanRing::kSize);
  EXPECT_EQ(spans.lost, 5U);
  EXPECT_EQ(recorder.take(kEverything).lost, 0U);
}

TEST(SpanRecorder, BeginsAgainWithoutOldRecords) {
  SpanRecorder recorder;
  recorder.start({.share = 1});
  write(recorder, 1, 3);
  recorder.stop();
  write(recorder, 4, 3);
  EXPECT_FALSE(recorder.samples());
  recorder.start({.share = 1});
  write(recorder, 7, 1);
  const RecordedSpans spans = recorder.take(kEverything);
  ASSERT_EQ(spans.records.size(), 1U);
  EXPECT_EQ(spans.records[0].id, 7U);
}

TEST(SpanRecorder, TwoOfThemDoNotMixInOneThread) {
  SpanRecorder first, second;
  first.start({.share = 1});
  second.start({.share = 1});
  for (std::uint64_t i = 0; i < 10; ++i) {
    write(first, 2 * i, 1);
    write(second, 2 * i + 1, 1);
  }
  for (const SpanRecord& record : first.take(kEverything).records) EXPECT_EQ(record.id % 2, 0U);
  const RecordedSpans spans = second.take(kEverything);
  EXPECT_EQ(spans.records.size(), 10U);
  for (const SpanRecord& record : spans.records) EXPECT_EQ(record.id % 2, 1U);
}

}  // namespace
}  // namespace lp
