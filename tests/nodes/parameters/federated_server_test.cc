// FederatedServer: the selected members, the mean, and members that do not answer or answer nonsense.
#include "nodes/parameters/federated_server.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lp/checkpoint/cut.h"
#include "lp/lp.h"
#include "tests/error_of.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

using test::error_of;

using Selected = std::map<std::uint32_t, Round>;

class RoundsRun {
 public:
  explicit RoundsRun(int members, RoundsOptions options = {}, const std::filesystem::path& directory = {}) {
    if (!options.initial) options.initial = [](std::uint64_t) { return std::vector<float>{1, 2}; };
    const auto group = program_.group<Learner>({.name = "member", .replicas = members});
    const auto rounds = program_.add<FederatedServer>({.name = "rounds"}, context, group, options);
    Runtime::Options runtime;
    runtime.run.directory = directory;
    run_.emplace(program_, runtime);
    client_.emplace(run_->client(rounds));
  }
  void resume(const std::filesystem::path& cut) { run_->restart({"rounds"}, cut); }
  void wait_saved(std::uint64_t round) { run_->wait_saved(round, 1); }

  Client<FederatedServer>& client() { return *client_; }
  // All members ask for the next round, member k with examples[k]. Returns the answers of the selected ones.
  Selected ask(const std::vector<std::uint64_t>& examples) {
    std::vector<Future<Round>> futures;
    for (std::uint32_t member = 0; member < examples.size(); ++member) {
      futures.push_back(client_->async<&FederatedServer::next>(member, examples[member]));
    }
    Selected out;
    const std::vector<Round> rounds = when_all(std::move(futures)).get();
    for (std::uint32_t member = 0; member < examples.size(); ++member) {
      EXPECT_EQ(rounds[member].state.empty(), !rounds[member].selected && !rounds[member].over);
      if (rounds[member].selected) out.emplace(member, rounds[member]);
    }
    return out;
  }
  bool contribute(std::uint32_t member, std::uint64_t round, std::vector<float> values) {
    return client_->call<&FederatedServer::contribute>(member, round, Array<float>::copy_of(values));
  }
  std::vector<float> state() {
    const Array<float> state = client_->call<&FederatedServer::state>();
    return {state.begin(), state.end()};
  }
  // Does what a supervisor does when the program goes on without a member, or has it back.
  void say(std::uint32_t member, bool gone) {
    const std::vector<PeerState> news{{.node = run_->id("member/" + std::to_string(member)),
                                       .incarnation = 1,
                                       .gone = gone,
                                       .text = "it was killed",
                                       .epoch = ++epoch_}};
    run_->runtime().update(news);
  }
  RoundsStatistics statistics() { return client_->call<&FederatedServer::statistics>(); }

 private:
  Program program_{"rounds"};
  std::optional<LocalRun> run_;
  std::optional<Client<FederatedServer>> client_;
  std::uint64_t epoch_ = 0;
};

TEST(FederatedServer, ARoundSelectsAShareOfTheMembersOneAtLeastAndNoneWithoutExamples) {
  for (const auto& [share, count] : {std::pair(0.0, 1U), std::pair(0.29, 29U), std::pair(1.0, 100U)}) {
    RoundsRun run(105, {.share = share});
    std::vector<std::uint64_t> examples(105, 7);
    for (std::size_t k = 0; k < 5; ++k) examples[k * 20] = 0;
    const Selected selected = run.ask(examples);
    EXPECT_EQ(selected.size(), count);
    for (const auto& [member, round] : selected) EXPECT_NE(member % 20 == 0 && member < 100, true) << member;
  }
}

// A run saves its state at the end, and a run with other options resumes it.
TEST(FederatedServer, ARunThatIsResumedGoesOnUnlessItHasItsRoundsOrItsTarget) {
  const std::filesystem::path directory = ::testing::TempDir() + "lp_rounds_resumed";
  const auto reaches = [](float target) {
    return [target](std::uint64_t) -> Reached {
      return [target](const Array<float>& state) { return state[0] >= target; };
    };
  };
  const auto told = [&](RoundsOptions options, bool resumes) {
    RoundsRun run(1, std::move(options), directory);
    if (resumes) run.resume(cut_directory(directory, 2));
    std::vector<Round> out{run.client().call<&FederatedServer::next>(0, 1)};
    while (!out.back().over) {
      const std::uint64_t round = out.back().number;
      EXPECT_TRUE(run.contribute(0, round, {static_cast<float>(round + 1), 0}));
      out.push_back(run.client().call<&FederatedServer::next>(0, 1));
    }
    if (!resumes) run.wait_saved(2);
    return out.size() - 1;
  };
  const RoundsOptions two{.rounds = 2, .checkpoint_every = 10};
  RoundsOptions five = two;
  five.rounds = 5;
  RoundsOptions target = five;
  target.reached = reaches(2);
  RoundsOptions higher = five;
  higher.reached = reaches(4);
  for (const RoundsOptions& first : {two, target}) {
    std::filesystem::remove_all(directory);
    EXPECT_EQ(told(first, false), 2U);
    EXPECT_EQ(told(two, true), 0U);
    EXPECT_EQ(told(five, true), 3U);
    EXPECT_EQ(told(target, true), 0U);
    EXPECT_EQ(told(higher, true), 2U);
  }
  std::filesystem::remove_all(directory);
}

TEST(FederatedServer, TheFirstRoundWaitsForAllMembers) {
  RoundsRun run(2);
  Future<Round> first = run.client().async<&FederatedServer::next>(0, 5);
  EXPECT_FALSE(first.ready());
  EXPECT_TRUE(run.client().call<&FederatedServer::next>(1, 5).selected);
  EXPECT_TRUE(first.get().selected);
}

TEST(FederatedServer, EveryRoundSelectsOthersByTheSeedAlone) {
  const auto history = [] {
    RoundsRun run(20, {.share = 0.25, .rounds = 10});
    std::vector<std::set<std::uint32_t>> out;
    run.ask(std::vector<std::uint64_t>(20, 1));
    for (std::uint64_t round = 0; round < 10; ++round) {
      out.emplace_back();
      for (std::uint32_t member = 0; member < 20; ++member) {
        if (run.contribute(member, round, {0, 0})) out.back().insert(member);
      }
      EXPECT_EQ(out.back().size(), 5U);
    }
    return out;
  };
  const auto first = history();
  EXPECT_EQ(first, history());
  EXPECT_GT(std::set(first.begin(), first.end()).size(), 5U);
}

TEST(FederatedServer, TheMeanIsWeightedByTheExamplesOfTheSelectedAlone) {
  RoundsRun run(3, {.share = 0.667, .rounds = 2});
  const std::vector<std::uint64_t> examples{1, 3, 12};
  const Selected selected = run.ask(examples);
  ASSERT_EQ(selected.size(), 2U);
  double sum = 0;
  double weighted = 0;
  for (const auto& [member, told] : selected) {
    EXPECT_TRUE(run.contribute(member, 0, {static_cast<float>(member) * 10, 4}));
    sum += static_cast<double>(examples[member]);
    weighted += static_cast<double>(examples[member]) * member * 10;
  }
  EXPECT_FLOAT_EQ(run.state()[0], static_cast<float>(weighted / sum));
  EXPECT_FLOAT_EQ(run.state()[1], 4);
  EXPECT_EQ(run.statistics().examples, static_cast<std::uint64_t>(sum));
}

TEST(FederatedServer, WhoIsNotSelectedIsLateAndWhoSaysItTwiceCountsOnce) {
  RoundsRun run(2, {.rounds = 2});
  ASSERT_EQ(run.ask({1, 1}).size(), 2U);
  EXPECT_TRUE(run.contribute(0, 0, {2, 2}));
  EXPECT_TRUE(run.contribute(0, 0, {2, 2}));
  EXPECT_FALSE(run.contribute(7, 0, {9, 9}));
  EXPECT_FALSE(run.contribute(1, 3, {9, 9}));
  EXPECT_TRUE(run.contribute(1, 0, {4, 4}));
  EXPECT_EQ(run.state(), (std::vector<float>{3, 3}));
  EXPECT_FALSE(run.contribute(1, 0, {9, 9}));
  EXPECT_EQ(run.statistics().late, 3U);
  EXPECT_EQ(run.statistics().contributions, 2U);
}

TEST(FederatedServer, AMemberThatIsAskedAgainGetsTheSameRound) {
  RoundsRun run(2);
  ASSERT_EQ(run.ask({1, 1}).size(), 2U);
  const Round again = run.client().call<&FederatedServer::next>(0, 1);  // the member was restarted
  EXPECT_TRUE(again.selected);
  EXPECT_EQ(again.number, 0U);
}

TEST(FederatedServer, ARoundGoesOnWithoutAMemberThatDoesNotAnswer) {
  RoundsRun run(3, {.rounds = 3, .patience = std::chrono::seconds(1)});
  ASSERT_EQ(run.ask({1, 1, 1}).size(), 3U);
  run.contribute(0, 0, {4, 4});
  run.contribute(1, 0, {8, 8});
  // They learn of the next round when the patience is over; it does not wait for member 2.
  EXPECT_EQ(run.ask({1, 1}).size(), 2U);
  EXPECT_EQ(run.state(), (std::vector<float>{6, 6}));
  EXPECT_EQ(run.statistics().missed, 1U);
  EXPECT_FALSE(run.contribute(2, 0, {100, 100}));
  Future<Round> back = run.client().async<&FederatedServer::next>(2, 1);
  run.contribute(0, 1, {1, 1});
  run.contribute(1, 1, {1, 1});
  EXPECT_TRUE(back.get().selected);  // it takes part again
}

// The patience is the default, 60 s, so that a round that waits for it ends too late for the test.
TEST(FederatedServer, NoRoundWaitsForAMemberThatTheProgramGoesOnWithout) {
  RoundsRun run(4, {.rounds = 3});
  std::vector<Future<Round>> first;
  for (std::uint32_t member = 0; member < 3; ++member) {
    first.push_back(run.client().async<&FederatedServer::next>(member, 1));
  }
  EXPECT_EQ(run.statistics().selected, 0U);
  run.say(3, /*gone=*/true);  // the first round begins without it
  for (Future<Round>& one : first) EXPECT_TRUE(one.get().selected);
  run.contribute(0, 0, {4, 4});
  run.contribute(1, 0, {8, 8});
  run.say(2, /*gone=*/true);  // the round was waiting for it alone
  EXPECT_EQ(run.ask({1, 1}).size(), 2U);
  EXPECT_EQ(run.state(), (std::vector<float>{6, 6}));
  EXPECT_EQ(run.statistics().missed, 1U);
  run.say(3, /*gone=*/false);
  Future<Round> back = run.client().async<&FederatedServer::next>(3, 1);
  run.contribute(0, 1, {1, 1});
  run.contribute(1, 1, {1, 1});
  EXPECT_TRUE(back.get().selected);  // it takes part again
}

TEST(FederatedServer, ARoundThatNobodyAnswersChangesNothing) {
  RoundsRun run(1, {.rounds = 1, .patience = std::chrono::milliseconds(20)});
  ASSERT_EQ(run.ask({1}).size(), 1U);
  Future<Round> other = run.client().async<&FederatedServer::next>(5, 0);
  EXPECT_TRUE(other.get().over);
  EXPECT_EQ(run.state(), (std::vector<float>{1, 2}));
}

TEST(FederatedServer, WhatIsNotAModelIsRefusedByNameAndTheRoundDoesWithoutIt) {
  RoundsRun run(3);
  ASSERT_EQ(run.ask({1, 1, 1}).size(), 3U);
  const float bad = std::numeric_limits<float>::quiet_NaN();
  const std::string finite = error_of([&] { run.contribute(1, 0, {1, bad}); });
  EXPECT_NE(finite.find("member 1"), std::string::npos) << finite;
  EXPECT_NE(finite.find("element 1"), std::string::npos) << finite;
  const std::string size = error_of([&] { run.contribute(2, 0, {1, 1, 1}); });
  EXPECT_NE(size.find("3 values instead of 2"), std::string::npos) << size;
  EXPECT_TRUE(run.contribute(0, 0, {7, 8}));
  EXPECT_EQ(run.state(), (std::vector<float>{7, 8}));
  EXPECT_TRUE(run.client().call<&FederatedServer::next>(0, 1).over);
}

TEST(FederatedServer, AModelThatIsNotFiniteCountsWhenBadValuesPass) {
  RoundsRun run(1, {.bad_values = BadValues::pass});
  ASSERT_EQ(run.ask({1}).size(), 1U);
  EXPECT_TRUE(run.contribute(0, 0, {std::numeric_limits<float>::infinity(), 1}));
  EXPECT_EQ(run.state(), (std::vector<float>{std::numeric_limits<float>::infinity(), 1}));
}

TEST(FederatedServer, TheyEndWhenWhatIsWantedIsReached) {
  RoundsRun run(1, {.rounds = 100, .reached = [](std::uint64_t) {
                      return [](const Array<float>& state) { return state[0] > 2.5F; };
                    }});
  std::uint64_t rounds = 0;
  for (; !run.client().call<&FederatedServer::next>(0, 1).over; ++rounds) {
    run.contribute(0, rounds, {static_cast<float>(rounds), 0});
  }
  EXPECT_EQ(rounds, 4U);
}

// The heartbeat is answered in the handlers' turn, too.
TEST(FederatedServer, HandlersAnswerWhileItIsAskedWhetherEnoughIsReached) {
  Event asked;
  Event answer;
  RoundsRun run(1, {.rounds = 100, .reached = [&](std::uint64_t) {
                      return [&](const Array<float>&) {
                        asked.set();
                        answer.wait();
                        return true;
                      };
                    }});
  ASSERT_EQ(run.ask({1}).size(), 1U);
  EXPECT_TRUE(run.contribute(0, 0, {7, 8}));
  EXPECT_TRUE(asked.wait(after(std::chrono::seconds(20))));
  EXPECT_EQ(run.state(), (std::vector<float>{7, 8}));
  EXPECT_FALSE(run.contribute(0, 1, {9, 9}));  // there is no such round yet
  Future<Round> next = run.client().async<&FederatedServer::next>(0, 1);
  EXPECT_FALSE(next.ready());
  answer.set();
  EXPECT_TRUE(next.get().over);
}

TEST(FederatedServer, OptionsThatDoNotFitAreNamed) {
  for (const RoundsOptions& options :
       {RoundsOptions{.share = 1.5}, RoundsOptions{.share = std::nan("")}, RoundsOptions{.patience = Duration::zero()},
        RoundsOptions{.patience = std::chrono::hours(1)}}) {
    Program program("rounds");
    RoundsOptions with = options;
    with.initial = [](std::uint64_t) { return std::vector<float>{1}; };
    const auto group = program.group<Learner>({.name = "member", .replicas = 1});
    program.add<FederatedServer>({.name = "rounds"}, context, group, with);
    LocalRun run(program, {}, LocalRun::kNothingHere);
    run.start_one("rounds", 1);
    EXPECT_EQ(run.failed().size(), 1U);
  }
}

}  // namespace
}  // namespace lp
