// Gathers: parts of all members, barriers, all-to-all, members that give again, rounds that are over, and cuts.
#include "nodes/gather.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lp/checkpoint/cut.h"
#include "lp/lp.h"
#include "tests/directory.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

using Names = Gather<std::string>;
using SavedNames = SavedGather<std::string>;
using All = std::vector<std::string>;

std::string refusal_of(auto f) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::failed);
    return error.text();
  }
  return "";
}

class GatherTest : public testing::Test {
 protected:
  Program program_{"gathering"};
  Handle<Names> handle_ = program_.add<Names>({.name = "gather"}, 3);
  LocalRun run_{program_};
  Client<Names> client_ = run_.client(handle_);
};

TEST_F(GatherTest, EverybodyGetsThePartsOfAllInTheirOrder) {
  Future<All> two = client_.async<&Names::gather>(2U, 1U, "c");
  Future<All> one = client_.async<&Names::gather>(1U, 1U, "b");
  EXPECT_FALSE(two.ready());
  EXPECT_EQ(client_.call<&Names::gather>(0U, 1U, "a"), (All{"a", "b", "c"}));
  EXPECT_EQ(one.get(), (All{"a", "b", "c"}));
  EXPECT_EQ(two.get(), (All{"a", "b", "c"}));
}

TEST_F(GatherTest, AMemberThatComesAgainChangesItsPartUntilTheRoundIsCompleteAndGetsTheSameAnswer) {
  client_.call<&Names::give>(0U, 5U, "old");
  client_.call<&Names::give>(0U, 5U, "a");
  client_.call<&Names::give>(1U, 5U, "b");
  EXPECT_EQ(client_.call<&Names::gather>(2U, 5U, "c"), (All{"a", "b", "c"}));
  EXPECT_EQ(client_.call<&Names::gather>(1U, 5U, "too late"), (All{"a", "b", "c"}));
}

TEST_F(GatherTest, TheTwoLastRoundsAreKeptAndNoOlder) {
  for (std::uint64_t round = 1; round <= 3; ++round) {
    for (std::uint32_t member = 0; member < 3; ++member) {
      client_.call<&Names::give>(member, round, std::to_string(round));
    }
  }
  EXPECT_EQ(client_.call<&Names::collect>(2U), (All{"2", "2", "2"}));
  EXPECT_EQ(refusal_of([&] { client_.call<&Names::collect>(1U); }),
            "round 1 is over, and its parts are dropped: only rounds from 2 on are kept");
}

TEST_F(GatherTest, MembersThatAreTooFarApartAndThoseThatThereAreNotAreRefused) {
  for (std::uint64_t round = 1; round <= Names::kRounds; ++round) client_.call<&Names::give>(0U, round, "a");
  EXPECT_NE(
      refusal_of([&] { client_.call<&Names::give>(0U, 5U, "a"); }).find("a member is too far ahead of the others"),
      std::string::npos);
  EXPECT_EQ(refusal_of([&] { client_.call<&Names::give>(3U, 1U, "a"); }),
            "member 3 of 3 gives a part: members count from 0");
}

TEST_F(GatherTest, AMemberThatNeverComesEndsTheWaitAtItsDeadline) {
  try {
    client_.within(std::chrono::milliseconds(20)).call<&Names::gather>(0U, 1U, "a");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::deadline);
  }
}

TEST_F(GatherTest, WhoWaitsWhileItIsRestartedGivesItsPartAgain) {
  Future<All> zero = client_.async<&Names::gather>(0U, 7U, "a");
  run_.restart({"gather"});
  client_.call<&Names::give>(1U, 7U, "b");
  client_.call<&Names::give>(2U, 7U, "c");
  EXPECT_EQ(zero.get(), (All{"a", "b", "c"}));
}

TEST(BarrierTest, OpensWhenAllHaveCome) {
  Program program("gathering");
  const auto handle = program.add<Barrier>({.name = "barrier"}, 2);
  LocalRun run(program);
  const Client<Barrier> barrier = run.client(handle);
  for (std::uint64_t round = 0; round < 10; ++round) {
    auto first = barrier.async<&Barrier::gather>(0U, round, std::monostate());
    EXPECT_FALSE(first.ready());
    barrier.call<&Barrier::gather>(1U, round, std::monostate());
    first.get();
  }
}

TEST(AllToAllTest, EachGetsWhatAllHaveForIt) {
  constexpr int kMembers = 3;
  constexpr std::uint64_t kRoundsOfAll = 20;
  Program program("gathering");
  const auto inboxes = program.group<Gather<int>>({.name = "inbox", .replicas = kMembers}, kMembers);
  program.function(
      {.name = "worker", .replicas = kMembers},
      [](const Clients<Gather<int>>& all, int index) {
        const auto me = static_cast<std::uint32_t>(index);
        for (std::uint64_t round = 0; round < kRoundsOfAll; ++round) {
          for (int to = 0; to < kMembers; ++to) {
            all[static_cast<std::size_t>(to)].call<&Gather<int>::give>(me, round, 10 * index + to);
          }
          EXPECT_EQ(all[me].call<&Gather<int>::collect>(round), (std::vector{index, 10 + index, 20 + index}));
        }
      },
      inboxes, index);
  LocalRun run(program);
  run.wait_finished();
  EXPECT_TRUE(run.failed().empty());
}

TEST(SavedGatherTest, KnowsAfterARestartTheRoundOfItsCut) {
  const test::Directory directory;
  Program program("gathering");
  const auto handle = program.add<SavedNames>({.name = "gather"}, context, 2, std::uint64_t{10});
  LocalRun run(program, {.run = {.directory = directory.path()}});
  const Client<Names> client = run.client(Handle<Names>(handle));
  for (const std::uint64_t round : {9U, 10U, 11U}) {
    client.call<&Names::give>(0U, round, "a" + std::to_string(round));
    client.call<&Names::give>(1U, round, "b" + std::to_string(round));
  }
  run.wait_saved(10, 1);
  run.restart({"gather"}, cut_directory(directory.path(), 10));
  EXPECT_EQ(client.call<&Names::collect>(10U), (All{"a10", "b10"}));
  client.call<&Names::give>(0U, 11U, "again");
  EXPECT_EQ(client.call<&Names::gather>(1U, 11U, "too"), (All{"again", "too"}));
}

}  // namespace
}  // namespace lp
