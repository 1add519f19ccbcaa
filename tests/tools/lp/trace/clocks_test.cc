// The clocks of hosts are aligned by the messages between them.

#include "tools/lp/trace/clocks.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "lp/base/random.h"

namespace lp::tool {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

Time at(Duration time) { return Time(time); }

TEST(Clocks, OneQuestionWithItsAnswerIsHalved) {
  Clocks clocks;
  const std::size_t here = clocks.number_of("here"), there = clocks.number_of("there");
  EXPECT_EQ(clocks.number_of("there"), there);
  clocks.add_message(here, there, at(microseconds(1000)), at(microseconds(5000)));
  clocks.add_message(there, here, at(microseconds(5010)), at(microseconds(1110)));
  const auto offsets = clocks.offsets();
  // ((1000 - 5000) + (1110 - 5010)) / 2, and half of the time that the messages took
  EXPECT_EQ(offsets[there].offset, microseconds(-3950));
  EXPECT_EQ(offsets[there].error, microseconds(50));
  EXPECT_EQ(offsets[here].offset, Duration::zero());
  EXPECT_EQ(offsets[here].error, Duration::zero());
}

TEST(Clocks, MessagesBetweenTwoOthersCountToo) {
  Clocks clocks;
  const std::size_t here = clocks.number_of("here"), a = clocks.number_of("a"), b = clocks.number_of("b");
  const auto slow_question = [&](std::size_t there, Duration ahead) {
    clocks.add_message(here, there, at(seconds(1)), at(seconds(1) + ahead + microseconds(10)));
    clocks.add_message(there, here, at(seconds(1) + ahead + microseconds(20)), at(seconds(1) + microseconds(500)));
  };
  slow_question(a, seconds(3));
  slow_question(b, seconds(7));
  const Duration error = clocks.offsets()[b].error;
  clocks.add_message(a, b, at(seconds(9)), at(seconds(13) + microseconds(2)));
  clocks.add_message(b, a, at(seconds(13) + microseconds(3)), at(seconds(9) + microseconds(5)));
  const auto offsets = clocks.offsets();
  EXPECT_LE(offsets[b].error, error);
  const Duration between = offsets[a].offset - offsets[b].offset;
  EXPECT_LE(between, seconds(4) + microseconds(2));
  EXPECT_GE(between, seconds(4) - microseconds(2));
}

TEST(Clocks, NoMessageArrivesBeforeItHasLeft) {
  Random random(1, "clocks");
  Clocks clocks;
  const std::vector<Duration> ahead = {seconds(0), seconds(100), seconds(-30), microseconds(1)};
  struct Message {
    std::size_t from, to;
    Time left, arrived;
  };
  std::vector<Message> messages;
  for (std::size_t i = 0; i < ahead.size(); ++i) clocks.number_of(std::to_string(i));
  for (int i = 0; i < 1000; ++i) {
    const std::size_t from = random.below(ahead.size()), to = random.below(ahead.size());
    const Duration left = seconds(1000) + microseconds(static_cast<int>(random.below(1000000)));
    const Duration took = microseconds(20 + static_cast<int>(random.below(10000)));
    messages.push_back({from, to, at(left + ahead[from]), at(left + took + ahead[to])});
    clocks.add_message(from, to, messages.back().left, messages.back().arrived);
  }
  const auto offsets = clocks.offsets();
  for (const Message& one : messages) {
    EXPECT_LE(one.left + offsets[one.from].offset, one.arrived + offsets[one.to].offset);
  }
  for (std::size_t i = 0; i < ahead.size(); ++i) {
    EXPECT_LE(offsets[i].offset + ahead[i], offsets[i].error);
    EXPECT_GE(offsets[i].offset + ahead[i], -offsets[i].error);
    EXPECT_LT(offsets[i].error, microseconds(1000));
  }
}

TEST(Clocks, BoundsThatContradictOneAnotherAreWidened) {
  Clocks clocks;
  const std::size_t here = clocks.number_of("here"), there = clocks.number_of("there");
  clocks.add_message(here, there, at(microseconds(1000)), at(microseconds(2000)));  // at most 1000 ahead
  clocks.add_message(there, here, at(microseconds(9100)), at(microseconds(8000)));  // at least 1100 ahead
  const auto offsets = clocks.offsets();
  EXPECT_LE(offsets[there].offset, microseconds(-1000) + offsets[there].error);
  EXPECT_GE(offsets[there].offset, microseconds(-1100) - offsets[there].error);
  EXPECT_GE(offsets[there].error, microseconds(50));
  EXPECT_LT(offsets[there].error, microseconds(300));
}

TEST(Clocks, NothingIsKnownOfAClockWithoutMessages) {
  Clocks clocks;
  clocks.number_of("here");
  const std::size_t there = clocks.number_of("there");
  EXPECT_EQ(clocks.offsets()[there].error, kForever);
}

}  // namespace
}  // namespace lp::tool
