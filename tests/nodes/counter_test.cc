// Counters: sums, refused calls, waiting callers, and what a cut keeps.
#include "nodes/counter.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "lp/checkpoint/cut.h"
#include "lp/lp.h"
#include "tests/directory.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

class CounterTest : public testing::Test {
 protected:
  Counts add(const Counts& increments) { return client_.call<&Counter::add>(increments); }
  std::string refusal_of(const Counts& increments) {
    try {
      add(increments);
    } catch (const Error& error) {
      return error.text();
    }
    return "";
  }

  Program program_{"counting"};
  Handle<Counter> handle_ = program_.add<Counter>({.name = "counter"});
  LocalRun run_{program_};
  Client<Counter> client_ = run_.client(handle_);
};

TEST_F(CounterTest, AddsUpByName) {
  EXPECT_EQ(add({{"steps", 5}, {"episodes", 1}}), (Counts{{"episodes", 1}, {"steps", 5}}));
  EXPECT_EQ(add({{"steps", 7}}), (Counts{{"episodes", 1}, {"steps", 12}}));
  EXPECT_EQ(client_.call<&Counter::counts>(), (Counts{{"episodes", 1}, {"steps", 12}}));
}

TEST_F(CounterTest, ARefusedIncrementAddsNothing) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  add({{"steps", kMost}});
  EXPECT_EQ(refusal_of({{"a", 1}, {"steps", 1}}).find("the count \"steps\" is 9223372036854775807, and 1 cannot"), 0);
  EXPECT_EQ(refusal_of({{"a", -1}}).find("the count \"a\" is 0, and -1 cannot"), 0);
  Counts many;
  for (std::size_t i = 0; i < Counter::kMostNames; ++i) many["step " + std::to_string(i)] = 1;
  EXPECT_EQ(refusal_of(many).find("this would make 10001 counts"), 0);
  EXPECT_EQ(client_.call<&Counter::counts>(), (Counts{{"steps", kMost}}));
}

TEST_F(CounterTest, WhoWaitsForACountIsToldAsSoonAsItIsReached) {
  Future<std::int64_t> ten = client_.async<&Counter::reached>("steps", 10);
  Future<std::int64_t> twenty = client_.async<&Counter::reached>("steps", 20);
  add({{"steps", 9}, {"episodes", 100}});
  EXPECT_FALSE(ten.ready());
  add({{"steps", 2}});
  EXPECT_EQ(ten.get(), 11);
  EXPECT_FALSE(twenty.ready());
  EXPECT_EQ(client_.call<&Counter::reached>("steps", 11), 11);
  add({{"steps", 9}});
  EXPECT_EQ(twenty.get(), 20);
}

TEST(SavedCounterTest, GoesOnFromTheCutOfTheLastMultiple) {
  const test::Directory directory;
  Program program("counting");
  const auto handle = program.add<SavedCounter>({.name = "counter"}, context, CutBy{.count = "steps", .every = 100});
  LocalRun run(program, {.run = {.directory = directory.path()}});
  const Client<Counter> client = run.client(handle);
  client.call<&Counter::add>(Counts{{"steps", 99}, {"episodes", 3}});
  client.call<&Counter::add>(Counts{{"steps", 206}});  // it passes 100, 200 and 300
  client.call<&Counter::add>(Counts{{"episodes", 1}});
  run.wait_saved(300, 1);
  run.restart({"counter"}, cut_directory(directory.path(), 300));
  EXPECT_EQ(client.call<&Counter::counts>(), (Counts{{"episodes", 3}, {"steps", 305}}));
  EXPECT_EQ(client.call<&Counter::add>(Counts{{"steps", 1}}).at("steps"), 306);
}

TEST(SavedCounterTest, RefusesCutsOfNothing) {
  Program program("counting");
  const auto handle = program.add<SavedCounter>({.name = "counter"}, context, CutBy{.count = "steps", .every = 0});
  LocalRun run(program, {}, LocalRun::kNothingHere);
  run.start_one("counter", 1);
  ASSERT_EQ(run.failed().count("counter"), 1);
  EXPECT_EQ(run.failed().at("counter").text(),
            "a counter would save a checkpoint every 0 of \"steps\": give a number above 0");
}

}  // namespace
}  // namespace lp
