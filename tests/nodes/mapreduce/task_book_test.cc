#include "nodes/mapreduce/task_book.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "lp/base/scheduler.h"

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

TEST(TaskBookTest, NoMoreTasksAreComparedThanWanted) {
  TaskBook book(1000);
  std::size_t asked = 0;
  const auto prefers = [&asked](std::uint32_t task) {
    ++asked;
    return std::uint64_t{task};
  };
  EXPECT_EQ(book.give(0, prefers, 10), 9U);
  EXPECT_EQ(asked, 10U);
  EXPECT_EQ(book.give(0, prefers), 999U);
  book.fail(999, 0);
  EXPECT_EQ(book.give(1, prefers, 10), 10U) << "9 is being done";
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

TEST(TaskBookTest, ATaskThatMayEndItsProcessGetsNoCopy) {
  TaskBook book(2);
  EXPECT_EQ(book.give(0, {}), 0U);
  EXPECT_EQ(book.give(1, {}), 1U);
  EXPECT_TRUE(book.done(0, 0));
  book.forbid_copies(1);
  EXPECT_EQ(book.until_late(), kForever);
  EXPECT_EQ(book.give(0, {}), std::nullopt);
  book.take_back(1, 1);
  EXPECT_EQ(book.give(0, {}), 1U);
}

Time simulated;
Time simulated_now() noexcept { return simulated; }

// The time that workers take for these tasks, in tasks of a worker that is not slow; one worker is 10 times slower.
double time_for(std::uint32_t workers, std::uint32_t tasks, bool one_is_slow) {
  struct Work {
    std::optional<std::uint32_t> task{};
    Time end{};
  };
  constexpr Duration kTask = std::chrono::seconds(1);
  const Time begin = simulated = Time() + std::chrono::hours(1);
  TaskBook book(tasks, true, simulated_now);
  std::vector<Work> works(workers);
  while (!book.complete()) {
    const Duration late = book.until_late();  // 0: it is late, and nobody is idle
    Time next = late > Duration::zero() ? later(simulated, late) : kNever;
    for (std::uint32_t i = 0; i < workers; ++i) {
      if (!works[i].task) works[i] = {book.give(i, {}), simulated + (one_is_slow && i == 0 ? 10 * kTask : kTask)};
      if (works[i].task) next = std::min(next, works[i].end);
    }
    simulated = std::max(simulated, next);
    for (std::uint32_t i = 0; i < workers; ++i) {
      if (works[i].task && works[i].end <= simulated) book.done(*std::exchange(works[i].task, {}), i);
    }
  }
  return to_seconds(simulated - begin);
}

TEST(TaskBookTest, AWorkerThatIsTenTimesSlowerDelaysTheEndByLittleMoreThanATask) {
  for (const std::uint32_t workers : {2U, 3U, 4U, 16U}) {
    for (const std::uint32_t tasks : {workers, 2 * workers + 1, 5 * workers}) {
      const double without_it = time_for(workers - 1, tasks, false);
      EXPECT_LE(time_for(workers, tasks, true), std::max(without_it, time_for(workers, tasks, false) + 1.3))
          << workers << " workers, " << tasks << " tasks";
    }
  }
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
