// Events, also on words that other processes see.

#include "lp/base/scheduler.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <limits>
#include <span>

namespace lp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Events, SetBeforeAndAfterTheWait) {
  Event event;
  event.set();
  event.set();
  EXPECT_TRUE(event.wait(now()));
  EXPECT_FALSE(event.wait(now()));
  const Thread setter = spawn("setter", [&] { event.set(); });
  EXPECT_TRUE(event.wait(after(seconds(20))));
}

TEST(Events, ThroughASharedWord) {
  Word word = Event::kEmpty;
  Event event(&word);
  Event::set(word);
  EXPECT_TRUE(event.wait(after(seconds(20))));
  EXPECT_EQ(word.load(), Event::kEmpty);
  const Thread setter = spawn("setter", [&] { Event::set(word); });
  EXPECT_TRUE(event.wait(after(seconds(20))));
}

TEST(WorkClocks, AThreadIsRunnableUnlessItWaitsOrHasEnded) {
  std::atomic<bool> works = true;
  Event clock_there;
  Event end;
  WorkClock clock;
  Thread thread = spawn("a) S (b", [&] {
    clock = work_clock();
    clock_there.set();
    while (works) relax();
    end.wait(after(seconds(20)));
  });
  ASSERT_TRUE(clock_there.wait(after(seconds(20))));
  const Time limit = after(seconds(20));
  while (worked(clock) < milliseconds(1) && !passed(limit)) step_aside();
  EXPECT_TRUE(runnable(clock));
  works = false;
  while (runnable(clock) && !passed(limit)) step_aside();
  EXPECT_FALSE(passed(limit));
  end.set();
  thread = Thread();
  while (runnable(clock) && !passed(limit)) step_aside();  // the kernel takes a moment to forget it
  EXPECT_FALSE(runnable(clock));
}

// Another process may write anything into a word that it sees.
TEST(Events, NonsenseInASharedWordKeepsNobodyWaiting) {
  Word word = Event::kEmpty;
  Event event(&word);
  for (const std::uint32_t nonsense : {3u, 4u, 77u, ~0u}) {
    word = nonsense;
    EXPECT_FALSE(event.wait(after(milliseconds(1)))) << nonsense;
    Event::set(word);
    EXPECT_TRUE(event.wait(after(seconds(20)))) << nonsense;
  }
}

TEST(Pollers, OneOfThoseThatShareADescriptorIsToldOfIt) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  std::array<Poller, 2> pollers;
  for (Poller& poller : pollers) poller.share(ends[0], 7);
  for (Poller& poller : pollers) {
    const Thread writer = spawn("writer", [&] { EXPECT_EQ(write(ends[1], "x", 1), 1); });
    Poller::Ready ready;
    EXPECT_EQ(poller.wait(std::span(&ready, 1), after(seconds(20))), 1u);
    EXPECT_EQ(ready.tag, 7u);
    char read_back = 0;
    EXPECT_EQ(read(ends[0], &read_back, 1), 1);
    EXPECT_EQ(poller.wait(std::span(&ready, 1), now()), 0u);
  }
  for (const int end : ends) close(end);
}

TEST(Parking, EndsWhenTheWordIsAnotherOrTheTimeIsOver) {
  Word word = 1;
  EXPECT_TRUE(park(word, 0, after(seconds(20))));
  EXPECT_FALSE(park(word, 1, now()));
  EXPECT_FALSE(park(word, 1, after(milliseconds(1))));
}

TEST(Times, FarOnesAreNeverEarlyAndNeverOverflow) {
  EXPECT_EQ(after(kForever), kNever);
  EXPECT_EQ(until(kNever), kForever);
  EXPECT_FALSE(passed(kNever));
  EXPECT_TRUE(passed(now()));
  const Time begin = now();
  EXPECT_GE(after(seconds(2)), begin + seconds(2));
  EXPECT_GE(after(milliseconds(2)), begin + milliseconds(2));
  EXPECT_EQ(until(begin), Duration::zero());
  EXPECT_GE(until(begin + seconds(100)), seconds(90));
  EXPECT_EQ(later(begin, kForever), kNever);
  EXPECT_EQ(later(begin, seconds(1)), begin + seconds(1));
}

TEST(Times, SecondsThatNoDurationHoldsAreTheLongestOne) {
  EXPECT_EQ(from_seconds(1.5), milliseconds(1500));
  EXPECT_EQ(to_seconds(milliseconds(1500)), 1.5);
  for (const double many : {1e10, 1e300, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(from_seconds(many), kForever);
    EXPECT_EQ(from_seconds(-many), -kForever);
  }
  EXPECT_EQ(from_seconds(std::numeric_limits<double>::quiet_NaN()), kForever);
}

}  // namespace
}  // namespace lp
