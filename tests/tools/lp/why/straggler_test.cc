// Which replica is a straggler, by the counts of calls and the shares of the time.

#include "tools/lp/why/straggler.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lp::tool {
namespace {

// Four replicas that spend their time as `all`, and of which `other` is number 1.
std::optional<Straggler> straggler_among(const Share& all, const Share& other) {
  std::map<std::string, Share> shares;
  std::vector<std::string> group;
  for (const char* name : {"worker/0", "worker/1", "worker/2", "worker/3"}) {
    group.emplace_back(name);
    shares[name] = group.size() == 2 ? other : all;
  }
  return straggler_of(group, shares);
}

// A worker that makes so many calls of a server in 10 seconds, and works for a tenth of the time.
Share caller(double calls) {
  return {.works = 0.1,
          .kept = 0.4,
          .looks = 20,
          .units = calls / 10,
          .seconds = 10,
          .calls = {{"server.pull", calls / 2}, {"server.push", calls / 2}}};
}

TEST(Straggler, AnAsynchronousOneMakesFewerCalls) {
  const std::optional<Straggler> slow = straggler_among(caller(1700), caller(100));
  ASSERT_TRUE(slow.has_value());
  EXPECT_FALSE(slow->waits_more);
  EXPECT_EQ(slow->text(),
            "worker/1 is a straggler: a call, with the work for it, takes it 17 times as long as the other 3 of its "
            "group; it makes 10 calls a second, and the median of them 170");
  EXPECT_FALSE(straggler_among(caller(1700), caller(900)).has_value());
  EXPECT_FALSE(straggler_among(caller(12), caller(4)).has_value());  // by chance
  EXPECT_FALSE(straggler_among(caller(1700), caller(0)).has_value());
}

TEST(Straggler, OneThatOthersKeepIsNone) {
  Share kept = caller(100);
  kept.kept = 0.9;
  const std::optional<Straggler> slow = straggler_among(caller(1700), kept);
  ASSERT_TRUE(slow.has_value());
  EXPECT_TRUE(slow->waits_more);
  EXPECT_EQ(slow->text(),
            "worker/1 makes 5.9 % of the calls of the median of the other 3 of its group, and waits for 90 % of the "
            "time");
}

TEST(Straggler, OneThatHasNothingToDoIsNone) {
  Share idle = caller(100);
  idle.kept = 0;
  idle.away = 0.95;
  EXPECT_FALSE(straggler_among(caller(1700), idle).has_value());
  // Those that have come to their end are not slow after that.
  Share finished = caller(1000);
  finished.kept = 0;
  finished.away = 0.8;
  Share late = caller(1000);
  late.kept = 0;
  finished.looks = late.looks = 1000;
  const std::optional<Straggler> slow = straggler_among(finished, late);
  ASSERT_TRUE(slow.has_value());
  EXPECT_NEAR(slow->factor, 5, 1e-9);
}

TEST(Straggler, OneThatDoesSomethingElseIsNone) {
  Share evaluator = caller(100);
  evaluator.calls["tester.score"] = 50;
  EXPECT_FALSE(straggler_among(caller(1700), evaluator).has_value());
  Share pushes_less = caller(1700);
  pushes_less.calls["server.push"] = 50;
  EXPECT_FALSE(straggler_among(caller(1700), pushes_less).has_value());
}

// All make a step when the slowest has made it.
Share in_step(double works, double looks = 20) {
  return {.works = works, .kept = 1 - works, .looks = looks, .units = 50, .steps = 10, .seconds = 1};
}

TEST(Straggler, ASynchronousOneWorksLonger) {
  const std::optional<Straggler> slow = straggler_among(in_step(0.1), in_step(0.4, 100));
  ASSERT_TRUE(slow.has_value());
  EXPECT_EQ(slow->text(),
            "worker/1 is a straggler: a step takes it 4.0 times as long as the other 3 of its group; it works for 40 % "
            "of the time");
  EXPECT_FALSE(straggler_among(in_step(0.5), in_step(0.9)).has_value());
}

TEST(Straggler, AFactorThatTheLooksCannotTellIsALeastOne) {
  const std::optional<Straggler> slow = straggler_among(in_step(0), in_step(0.8));
  ASSERT_TRUE(slow.has_value());
  EXPECT_NE(slow->text().find("takes it at least 16 times as long as the other 3"), std::string::npos) << slow->text();
}

TEST(Straggler, ChanceAndShortWorkAreNone) {
  EXPECT_FALSE(straggler_among(in_step(0.15), in_step(0.3)).has_value());  // 3 and 6 of 20 looks
  EXPECT_FALSE(straggler_among(in_step(0.02, 10'000), in_step(0.08, 10'000)).has_value());
}

// A shard with more load works more, as long as the others for each call.
TEST(Straggler, OneWithMoreLoadIsNone) {
  Share busy = {.works = 0.9, .looks = 20, .units = 900, .seconds = 1};
  Share quiet = {.works = 0.1, .looks = 20, .units = 100, .seconds = 1};
  EXPECT_FALSE(straggler_among(quiet, busy).has_value());
  quiet.works = 0;
  EXPECT_FALSE(straggler_among(quiet, busy).has_value());
}

}  // namespace
}  // namespace lp::tool
