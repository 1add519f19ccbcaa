#include "nodes/mapreduce/task_book.h"

#include <gtest/gtest.h>

#include <set>

namespace lp::dataflow {
namespace {

TEST(TaskBookTest, GivesEachTaskOnceAndPrefersWhatTheWorkerPrefers) {
  TaskBook book(3);
  EXPECT_EQ(book.give(0, [](std::uint32_t task) { return task == 1 ? 5U : 0U; }), 1U);
  EXPECT_EQ(book.give(1, {}), 0U);
  EXPECT_EQ(book.give(0, {}), 2U);
  EXPECT_EQ(book.give(1, {}), std::nullopt);
  EXPECT_EQ(book.busy(), (std::set<std::uint32_t>{0, 1}));
  EXPECT_TRUE(book.done(1, 0));
  EXPECT_FALSE(book.done(1, 0));
  EXPECT_TRUE(book.done(0, 1));
  EXPECT_FALSE(book.complete());
  EXPECT_TRUE(book.done(2, 0));
  EXPECT_TRUE(book.complete());
}

TEST(TaskBookTest, WhatAWorkerLosesIsGivenToAnother) {
  TaskBook book(2);
  EXPECT_EQ(book.give(0, {}), 0U);
  book.take_back(0);
  EXPECT_EQ(book.give(1, {}), 0U);
  EXPECT_EQ(book.give(1, {}), 1U);
  EXPECT_EQ(book.attempts(), 3U);
}

TEST(TaskBookTest, ATaskThatFailedIsTriedElsewhereFirst) {
  TaskBook book(2);
  EXPECT_EQ(book.give(0, {}), 0U);
  EXPECT_EQ(book.fail(0, 0), 1U);
  EXPECT_EQ(book.give(0, {}), 1U);
  EXPECT_EQ(book.give(0, {}), 0U);  // nothing else is left
  EXPECT_EQ(book.fail(0, 0), 2U);
}

TEST(TaskBookTest, ALateTaskGetsOneBackupCopyInAnotherWorker) {
  TaskBook book(2);
  EXPECT_EQ(book.give(0, {}), 0U);
  EXPECT_EQ(book.give(1, {}), 1U);
  EXPECT_EQ(book.until_late(), kForever);  // nobody knows how long a task takes
  EXPECT_EQ(book.give(2, {}), std::nullopt);
  EXPECT_TRUE(book.done(0, 0));
  const Time late = after(book.until_late());
  EXPECT_NE(late, kNever);
  while (!passed(late)) {
  }
  EXPECT_EQ(book.give(1, {}), std::nullopt);  // it has it
  EXPECT_EQ(book.give(0, {}), 1U);
  EXPECT_EQ(book.give(2, {}), std::nullopt);
  EXPECT_EQ(book.backups(), 1U);
  EXPECT_TRUE(book.done(1, 0));
  EXPECT_FALSE(book.done(1, 1));
}

TEST(TaskBookTest, WithoutBackupsThereIsNoCopy) {
  TaskBook book(2, false);
  EXPECT_EQ(book.give(0, {}), 0U);
  EXPECT_EQ(book.give(1, {}), 1U);
  EXPECT_TRUE(book.done(0, 0));
  EXPECT_EQ(book.until_late(), kForever);
}

TEST(TaskBookTest, ATaskWhoseResultIsLostIsDoneAgain) {
  TaskBook book(1);
  EXPECT_EQ(book.give(0, {}), 0U);
  EXPECT_TRUE(book.done(0, 0));
  book.undo(0);
  EXPECT_FALSE(book.complete());
  EXPECT_EQ(book.give(1, {}), 0U);
  EXPECT_TRUE(book.done(0, 1));
}

}  // namespace
}  // namespace lp::dataflow
