// Balancers: which replica gets a request, and what happens when one is slow, refuses, or is gone.
#include "nodes/serving/balancer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lp/lp.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const auto kAllUp = [](std::size_t) { return true; };

TEST(LeastOutstanding, ChoosesTheReplicaWithTheFewestRequestsAndGivesEqualOnesTheirTurns) {
  LeastOutstanding load(3);
  const std::vector<bool> untried(3);
  for (const std::size_t expected : {0U, 1U, 2U, 0U}) EXPECT_EQ(load.choose(untried, kAllUp, now()), expected);
  load.done(2, LeastOutstanding::End::answered, now());
  EXPECT_EQ(load.choose(untried, kAllUp, now()), 2U);
  EXPECT_EQ(load.outstanding(), (std::vector<std::size_t>{2, 1, 1}));
}

TEST(LeastOutstanding, LeavesOutReplicasThatAreNotUpUnlessThereIsNoOther) {
  LeastOutstanding load(2);
  const auto second_up = [](std::size_t one) { return one == 1; };
  for (int i = 0; i < 5; ++i) EXPECT_EQ(load.choose({false, false}, second_up, now()), 1U);
  EXPECT_EQ(load.choose({false, true}, second_up, now()), 0U);
  EXPECT_EQ(load.choose({true, true}, second_up, now()), std::nullopt);
}

TEST(LeastOutstanding, LeavesAReplicaAloneForAWhileThatLetARequestsTimePass) {
  LeastOutstanding load(2);
  const std::vector<bool> untried(2);
  const Time begin = now();
  EXPECT_EQ(load.choose(untried, kAllUp, begin), 0U);
  load.done(0, LeastOutstanding::End::late, begin);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(load.choose(untried, kAllUp, begin), 1U);
  EXPECT_EQ(load.choose(untried, kAllUp, begin + LeastOutstanding::kAfterLate), 0U);
}

// A replica that refuses at once has nothing under way, and would otherwise get everything.
TEST(LeastOutstanding, AvoidsAReplicaThatRefusesAndTriesAgainOnlyWhereNobodyDoes) {
  LeastOutstanding load(2);
  const std::vector<bool> untried(2);
  const Time begin = now();
  EXPECT_EQ(load.choose(untried, kAllUp, begin), 0U);
  load.done(0, LeastOutstanding::End::refused, begin);
  EXPECT_EQ(load.choose({true, false}, kAllUp, begin, /*only_good=*/true), 1U);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(load.choose(untried, kAllUp, begin), 1U);
  load.done(1, LeastOutstanding::End::refused, begin);
  EXPECT_EQ(load.choose({true, false}, kAllUp, begin, /*only_good=*/true), std::nullopt);
  EXPECT_EQ(load.choose(untried, kAllUp, begin), 0U);
  EXPECT_EQ(load.choose({false, true}, kAllUp, begin + LeastOutstanding::kAfterRefusal, /*only_good=*/true), 0U);
}

TEST(LeastOutstanding, RefusesNoReplicas) { EXPECT_THROW(LeastOutstanding(0), Error); }

// How the replicas behave, by number. Owned by the test.
struct Script {
  std::atomic<bool> refuses[2] = {false, false};
  std::atomic<bool> holds[2] = {false, false};
};

class Replica {
 public:
  Replica(int index, Script& script) : index_(index), script_(script) {}

  Future<int> ask(int) {
    ++asked_;
    if (script_.refuses[index_]) throw Error(ErrorKind::overloaded, "not now");
    if (!script_.holds[index_]) return ready(int{index_});
    held_.emplace_back();
    return held_.back().future();
  }
  int asked() const { return asked_; }
  void release() {
    for (Promise<int>& one : std::exchange(held_, {})) one.set_value(index_);
  }
  void fail() { throw Error(ErrorKind::failed, "it is broken"); }

  using Remote = Methods<&Replica::ask, &Replica::asked, &Replica::release, &Replica::fail>;

 private:
  const int index_;
  Script& script_;
  int asked_ = 0;
  std::vector<Promise<int>> held_{};
};

class BalancerTest : public testing::Test {
 protected:
  BalancerTest() {
    const GroupHandle<Replica> group =
        program_.group<Replica>({.name = "replica", .replicas = 2}, index, std::ref(script_));
    run_.emplace(program_);
    clients_.emplace(run_->client(group));
    balancer_.emplace(*clients_);
  }
  int asked(std::size_t replica) { return (*clients_)[replica].call<&Replica::asked>(); }
  void stop(const std::string& name) {
    run_->runtime().stop(run_->id(name), "the test");
    EXPECT_TRUE(run_->runtime().join(run_->id(name), after(seconds(20))));
  }

  Script script_{};
  Program program_{"balanced"};
  std::optional<LocalRun> run_{};
  std::optional<Clients<Replica>> clients_{};
  std::optional<Balancer<Replica>> balancer_{};
};

TEST_F(BalancerTest, ASlowReplicaGetsNoMoreThanItAnswers) {
  script_.holds[0] = true;
  std::vector<Future<int>> answers;
  for (int i = 0; i < 20; ++i) {
    Future<int> answer = balancer_->async<&Replica::ask>(i);
    while (balancer_->outstanding()[1] > 0) {  // the quick one answers
    }
    answers.push_back(std::move(answer));
  }
  EXPECT_EQ(asked(0), 1);
  EXPECT_EQ(asked(1), 19);
  (*clients_)[0].call<&Replica::release>();
  std::multiset<int> by;
  for (Future<int>& one : answers) by.insert(one.get());
  EXPECT_EQ(by.count(0), 1U);
  EXPECT_EQ(balancer_->outstanding(), (std::vector<std::size_t>{0, 0}));
}

TEST_F(BalancerTest, ARequestThatOneRefusesGoesToTheOther) {
  script_.refuses[0] = true;
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(balancer_->call<&Replica::ask>(i), 1);
    EXPECT_EQ(balancer_->async<&Replica::ask>(i).get(), 1);
  }
  script_.refuses[1] = true;
  try {
    balancer_->call<&Replica::ask>(1);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::overloaded);
  }
  EXPECT_EQ(balancer_->outstanding(), (std::vector<std::size_t>{0, 0}));
}

TEST_F(BalancerTest, AReplicaThatIsGoneIsLeftOutAndComesBack) {
  stop("replica/0");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(balancer_->call<&Replica::ask>(i), 1);
  run_->runtime().start(run_->id("replica/0"), 2);
  std::set<int> by;
  const Time end = after(seconds(20));
  while (by.size() < 2 && now() < end) by.insert(balancer_->call<&Replica::ask>(1));
  EXPECT_EQ(by.size(), 2U);
}

TEST_F(BalancerTest, ARequestThatIsLostWithItsReplicaGoesToTheOther) {
  script_.holds[0] = true;
  std::vector<Future<int>> answers;
  for (int i = 0; i < 2; ++i) answers.push_back(balancer_->async<&Replica::ask>(i));
  while (asked(0) == 0) {
  }
  stop("replica/0");
  for (Future<int>& one : answers) EXPECT_EQ(one.get(), 1);
}

TEST_F(BalancerTest, ARequestHasItsTimeOnce) {
  script_.holds[0] = script_.holds[1] = true;
  const Time begin = now();
  try {
    balancer_->within(milliseconds(20)).call<&Replica::ask>(1);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::deadline);
  }
  EXPECT_GE(now() - begin, milliseconds(20));
  EXPECT_EQ(asked(0) + asked(1), 1);
}

TEST_F(BalancerTest, AnErrorOfTheMethodIsNotTriedAgain) {
  try {
    balancer_->call<&Replica::fail>();
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::failed);
  }
  EXPECT_THROW(balancer_->async<&Replica::fail>().get(), Error);
}

}  // namespace
}  // namespace lp
