// The trials of a generation: given once, given again, and results in order.
#include "programs/evolution/trial_book.h"

#include <gtest/gtest.h>

#include "lp/base/error.h"
#include "lp/base/random.h"

namespace lp {
namespace {

constexpr Duration kLong = std::chrono::hours(1);

Trial trial(std::uint64_t index) { return {.index = index, .values = {1, 2}}; }

void put_all(TrialBook& book, const TrialRange& range) {
  for (std::uint32_t i = range.first; i < range.first + range.count; ++i) EXPECT_TRUE(book.put(i, trial(i)));
}

TEST(TrialBookTest, GivesEachTrialOnceAndFewerTheFewerAreLeft) {
  TrialBook book(100, /*open=*/false, kLong);
  std::uint32_t next = 0;
  std::uint32_t before = 100;
  for (TrialRange range = book.give(0, 2); range.count > 0; range = book.give(0, 2)) {
    EXPECT_EQ(range.first, next);
    EXPECT_LE(range.count, before);
    next += range.count;
    before = range.count;
  }
  EXPECT_EQ(next, 100U);
  EXPECT_EQ(before, 1U);
}

TEST(TrialBookTest, ResultsAreInOrderWhoeverSendsThem) {
  Random random(1, "order");
  for (int round = 0; round < 20; ++round) {
    TrialBook book(50, /*open=*/false, kLong);
    std::vector<TrialRange> ranges;
    for (TrialRange range = book.give(0, 3); range.count > 0; range = book.give(0, 3)) ranges.push_back(range);
    random.shuffle(std::span(ranges));
    for (const TrialRange& range : ranges) put_all(book, range);
    ASSERT_TRUE(book.complete());
    const std::vector<Trial> results = book.take_results();
    for (std::uint64_t i = 0; i < 50; ++i) EXPECT_EQ(results[i].index, i);
  }
}

TEST(TrialBookTest, WhatAWorkerLeavesUndoneIsGivenToAnother) {
  TrialBook book(8, /*open=*/false, kLong);
  const TrialRange lost = book.give(0, 2);
  ASSERT_EQ(lost.count, 2U);
  EXPECT_TRUE(book.put(lost.first, trial(0)));
  while (true) {
    const TrialRange range = book.give(1, 2);
    if (range.count == 0) break;
    put_all(book, range);
  }
  EXPECT_FALSE(book.complete());
  book.take_back(0);
  book.take_back(0);
  const TrialRange again = book.give(1, 2);
  EXPECT_EQ(again.first, lost.first + 1);
  EXPECT_EQ(again.count, 1U);
  EXPECT_EQ(book.give(1, 2).count, 0U);
  EXPECT_TRUE(book.put(again.first, trial(1)));
  EXPECT_TRUE(book.complete());
}

TEST(TrialBookTest, ATrialThatIsLateIsGivenToAnotherAndTheFirstResultCounts) {
  TrialBook book(1, /*open=*/false, Duration(1));
  EXPECT_EQ(book.give(0, 2).count, 1U);
  const Time end = after(std::chrono::milliseconds(1));
  while (!passed(end)) {
  }
  EXPECT_GT(book.take_back_late(), Duration::zero());
  EXPECT_EQ(book.give(1, 2).count, 1U);
  EXPECT_TRUE(book.put(0, trial(7)));
  EXPECT_FALSE(book.put(0, trial(8)));
  EXPECT_EQ(book.take_results()[0].index, 7U);
}

TEST(TrialBookTest, NothingIsTakenBackBeforeItsLeaseEnds) {
  TrialBook book(2, /*open=*/false, kLong);
  EXPECT_EQ(book.give(0, 1).count, 1U);
  EXPECT_GT(book.take_back_late(), std::chrono::minutes(59));
  EXPECT_EQ(book.give(0, 1).first, 1U);
  EXPECT_EQ(book.give(0, 1).count, 0U);
  EXPECT_EQ(book.given().size(), 2U);
}

TEST(TrialBookTest, AnOpenGenerationTakesItsFirstResults) {
  TrialBook book(3, /*open=*/true, kLong);
  std::uint32_t next = 0;
  for (int i = 0; i < 10; ++i) {
    const TrialRange range = book.give(0, 2);
    EXPECT_EQ(range.first, next);
    EXPECT_EQ(range.count, 1U);
    next += range.count;
  }
  for (const std::uint32_t number : {8U, 2U, 5U}) EXPECT_TRUE(book.put(number, trial(number)));
  EXPECT_FALSE(book.put(1, trial(1)));
  EXPECT_EQ(book.give(0, 2).count, 0U);
  EXPECT_EQ(book.take_results()[0].index, 8U);
}

TEST(TrialBookTest, AResultOfNoTrialIsRefused) {
  TrialBook book(3, /*open=*/false, kLong);
  EXPECT_THROW(book.put(3, trial(3)), Error);
}

}  // namespace
}  // namespace lp
