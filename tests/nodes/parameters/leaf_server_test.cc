// Leaf servers between learners and a root: the sums, the answers to repeated pushes, and who is waited for when
// learners, leaves or servers fail.
#include "nodes/parameters/leaf_server.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lp/lp.h"
#include "nodes/parameters/parameter_client.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

constexpr std::uint32_t kParameters = 10;  // parameters

// Learner i belongs to leaf i mod `leaves`. The root adds up the pushes.
class LeafServerTest : public ::testing::TestWithParam<bool> {
 protected:
  void start(const Consistency& consistency, int learners, int leaves = 1, std::uint32_t servers = 1) {
    tensors_ = {{.partition = Partition::slices(kParameters, servers)}};
    const ParameterServerOptions options{
        .shard = {.rule = Sum{}, .consistency = consistency, .workers = static_cast<std::uint32_t>(leaves)}};
    const auto root =
        program_.group<ParameterServer>({.name = "server", .replicas = static_cast<int>(servers)}, context, tensors_,
                                        options, GroupHandle<ParameterServer>("server", 0));
    const auto group = program_.group<Learner>({.name = "learner", .replicas = learners});
    const auto nodes = program_.group<LeafServer>({.name = "leaf", .replicas = leaves}, context,
                                                  GroupHandle<ParameterService>(root), group, BadValues::refuse);
    Runtime::Options runtime;
    runtime.run.serialize = GetParam();
    run_.emplace(program_, runtime);
    root_.emplace(run_->client(root));
    leaves_.emplace(run_->client(GroupHandle<ParameterService>(nodes)));
  }
  const Client<ParameterService>& leaf_of(std::uint32_t learner) { return (*leaves_)[learner % leaves_->size()]; }
  Clients<ParameterServer>& root() { return *root_; }

  static Push push_of(std::uint32_t learner, std::uint64_t clock, float value, std::uint64_t version = 0) {
    Push push{.stamp = {.worker = learner, .clock = clock, .version = version}, .pull = true};
    push.values = plain(Array<float>::copy_of(std::vector<float>(kParameters, value)));
    return push;
  }
  Future<Reply> push(const Push& push) { return leaf_of(push.stamp.worker).async<&ParameterService::push>(push); }
  Future<Reply> push(std::uint32_t learner, std::uint64_t clock, float value = 1, std::uint64_t version = 0) {
    return push(push_of(learner, clock, value, version));
  }
  std::uint64_t position(std::uint32_t learner) {
    return leaf_of(learner).call<&ParameterService::position>(0U, 0U, learner).clock;
  }
  Future<void> leave(std::uint32_t learner) { return leaf_of(learner).async<&ParameterService::leave>(learner, 0); }
  // Returns whether the leaf still has nothing to answer, after all pushes so far.
  template <class T>
  bool waits(std::uint32_t learner, const Future<T>& answer) {
    position(learner);
    return !answer.ready();
  }

  float value() { return root()[0].call<&ParameterServer::versions>(0U, 0U).newest[0]; }  // all parameters are equal
  ShardStatistics statistics() { return root()[0].call<&ParameterServer::statistics>().shards; }

  // Does what a supervisor does when a learner is lost or back.
  void say(std::uint32_t learner, bool gone) {
    const std::vector<PeerState> news{{.node = run_->id("learner/" + std::to_string(learner)),
                                       .incarnation = 1,
                                       .gone = gone,
                                       .text = "it was killed",
                                       .epoch = ++epoch_}};
    run_->runtime().update(news);
  }
  void refuse(const Push& refused, const std::string& text) {
    try {
      push(refused).get();
      ADD_FAILURE() << "it was taken, not refused as " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::failed);
      EXPECT_NE(error.text().find(text), std::string::npos) << error.what();
    }
  }

  Program program_{"tree"};
  std::vector<Tensor> tensors_;
  std::optional<LocalRun> run_;
  std::optional<Clients<ParameterServer>> root_;
  std::optional<Clients<ParameterService>> leaves_;
  std::uint64_t epoch_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Paths, LeafServerTest, ::testing::Bool(),
                         [](const auto& path) { return path.param ? "Bytes" : "Direct"; });

// Rudra: a leaf sums its learners and pushes once to the root.
TEST_P(LeafServerTest, PushesTheSumOfItsLearnersOnce) {
  constexpr std::uint32_t kServers = 3;
  start(Asynchronous{}, 6, 2, kServers);
  std::vector<ParameterClient> learners;
  for (const std::uint32_t i : {1U, 3U, 5U}) {
    learners.emplace_back(Clients<ParameterService>(std::vector<Client<ParameterService>>(kServers, leaf_of(i))),
                          tensors_, ParameterClientOptions{.worker = i});
  }
  std::vector<ParameterClient::Request> requests;
  std::vector<std::vector<float>> got(3, std::vector<float>(kParameters));
  const std::vector<float> ones(kParameters, 1.0F);
  for (std::size_t i = 0; i < 3; ++i) requests.push_back(learners[i].start_push(0, 0, ones, 2, got[i]));
  for (std::size_t i = 0; i < 3; ++i) learners[i].wait(std::move(requests[i]));
  for (const auto& values : got) EXPECT_EQ(values, std::vector<float>(kParameters, 0.5F));  // 3 / 6 examples
  for (const auto& server : root().all<&ParameterServer::statistics>()) EXPECT_EQ(server.shards.applied, 1);
  EXPECT_EQ(root()[0].call<&ParameterServer::position>(0U, 0U, 1U).clock, 1);  // the leaf is worker 1 of the root
  const Future<void> left = leave(5);
  requests.clear();
  for (std::size_t i = 0; i < 2; ++i) requests.push_back(learners[i].start_push(0, 1, ones, 0));
  for (std::size_t i = 0; i < 2; ++i) learners[i].wait(std::move(requests[i]));
  EXPECT_EQ(learners[0].position(), 2);
}

TEST_P(LeafServerTest, ASumIsAsOldAsTheOldestOfItsGradients) {
  start(Asynchronous{}, 2);
  for (std::uint64_t step = 0; step < 4; ++step) {  // the two take turns in having read the first version alone
    Future<Reply> first = push(0, step, 1, step % 2 == 0 ? 0 : step);
    push(1, step, 1, step % 2 == 0 ? step : 0).get();
    EXPECT_EQ(first.get().outcome, PushOutcome::accepted);
  }
  EXPECT_EQ(statistics().applied, 4);
  for (std::size_t step = 0; step < 4; ++step) EXPECT_EQ(statistics().staleness[step], 1) << step;
  EXPECT_EQ(value(), 8);
}

// In other orders, rounding loses the 1.
TEST_P(LeafServerTest, AddsInTheOrderOfItsLearnersWhoeverComesFirst) {
  start(Asynchronous{}, 3);
  const std::vector<float> values{1e8F, -1e8F, 1};
  float sum = 0;
  std::uint64_t clock = 0;
  for (const std::vector<std::uint32_t>& order :
       {std::vector{0U, 1U, 2U}, std::vector{2U, 0U, 1U}, std::vector{1U, 2U, 0U}, std::vector{2U, 1U, 0U}}) {
    std::vector<Future<Reply>> pushed;
    for (const std::uint32_t learner : order) pushed.push_back(push(learner, clock, values[learner]));
    for (Future<Reply>& one : pushed) one.get();
    EXPECT_EQ(value(), sum += 1);
    ++clock;
  }
}

TEST_P(LeafServerTest, ARepetitionWaitsForItsSumAndGetsTheSameRows) {
  start(Synchronous{}, 4, 2);
  Future<Reply> first = push(0, 0);
  Future<Reply> again = push(0, 0);  // learner 2 is slower
  EXPECT_TRUE(waits(0, again));
  Future<Reply> other = push(2, 0);
  Future<Reply> late = push(0, 0);  // the root waits for the other leaf
  EXPECT_TRUE(waits(0, late));
  Future<Reply> third = push(1, 0);
  Future<Reply> last = push(3, 0);
  for (Future<Reply>* one : {&first, &again, &other, &late, &third, &last}) {
    const Reply reply = one->get();
    EXPECT_EQ(reply.version, 1);
    EXPECT_EQ(reply.values, Array<float>::copy_of(std::vector<float>(kParameters, 4)));
  }
  EXPECT_EQ(statistics().applied, 2);
}

TEST_P(LeafServerTest, ARepetitionOfASumThatWasAnsweredGetsRowsWhileTheOthersAreAtTheNext) {
  start(Asynchronous{}, 3);
  Future<Reply> one = push(0, 0);
  Future<Reply> two = push(1, 0);
  push(2, 0).get();
  one.get();
  two.get();
  Future<Reply> next = push(1, 1);
  Future<Reply> again = push(0, 0);
  Future<Reply> last = push(2, 1);
  const Reply reply = again.get();
  EXPECT_EQ(reply.outcome, PushOutcome::duplicate);
  EXPECT_EQ(reply.values, Array<float>::copy_of(std::vector<float>(kParameters, 3)));
  EXPECT_TRUE(waits(1, next));
  push(0, 1).get();
  next.get();
  last.get();
  EXPECT_EQ(value(), 6);
}

TEST_P(LeafServerTest, GoesOnWithoutALearnerThatIsLostUntilItIsBack) {
  start(Asynchronous{}, 2);
  Future<Reply> alone = push(0, 0);
  EXPECT_TRUE(waits(0, alone));
  say(1, /*gone=*/true);
  alone.get();
  push(0, 1).get();
  say(1, /*gone=*/false);
  Future<Reply> waiting = push(0, 2);
  EXPECT_TRUE(waits(0, waiting));
  EXPECT_EQ(position(1), 2);
  push(1, 2).get();
  waiting.get();
  EXPECT_EQ(value(), 4);
}

// The root is synchronous, so that all of it would wait.
TEST_P(LeafServerTest, AllGoOnWithoutALeafWhoseLearnersAreLostOrHaveLeft) {
  start(Synchronous{}, 4, 2);
  Future<void> left = leave(3);
  say(1, /*gone=*/true);
  left.get();
  Future<Reply> one = push(0, 0);
  push(2, 0).get();
  EXPECT_EQ(one.get().values[0], 2);
}

TEST_P(LeafServerTest, WhoLeavesIsAnsweredWhenAllHaveLeft) {
  start(Asynchronous{}, 2);
  Future<void> first = leave(0);
  EXPECT_TRUE(waits(0, first));
  push(1, 0).get();
  Future<void> last = leave(1);
  last.get();
  first.get();
  EXPECT_EQ(root()[0].call<&ParameterServer::pull>(Pull{.tensor = 0, .shard = 0}).slowest, kUnbounded);
}

// Learner 0 was answered, and has ended.
TEST_P(LeafServerTest, ARestartedLeafWaitsForNoLearnerThatHadLeft) {
  start(Asynchronous{}, 2);
  Future<void> first = leave(0);
  leave(1).get();
  first.get();
  run_->restart({"leaf/0"});
  leave(1).get();
}

TEST_P(LeafServerTest, ARestartedLeafLosesNoPushAndCountsNoneTwice) {
  start(Asynchronous{}, 2);
  for (std::uint64_t step = 0; step < 3; ++step) {
    Future<Reply> one = push(0, step);
    push(1, step).get();
    one.get();
  }
  run_->restart({"leaf/0"});
  EXPECT_EQ(position(0), 3);
  Future<Reply> again = push(0, 2);  // learner 0 was not notified that it was there
  Future<Reply> next = push(1, 3);
  EXPECT_EQ(again.get().outcome, PushOutcome::duplicate);
  push(0, 3).get();
  EXPECT_EQ(next.get().outcome, PushOutcome::accepted);
  EXPECT_EQ(value(), 8);
}

// Learner 1 knows that the servers went back, and learner 0 does not.
TEST_P(LeafServerTest, AfterServersWentBackNoSumLacksALearner) {
  start(Asynchronous{}, 2);
  for (std::uint64_t step = 0; step < 3; ++step) {
    Future<Reply> one = push(0, step);
    push(1, step).get();
    one.get();
  }
  run_->restart({"server/0"});
  EXPECT_EQ(position(1), 0);
  Future<Reply> anew = push(1, 0);
  EXPECT_EQ(push(0, 3).get().outcome, PushOutcome::ahead);
  EXPECT_TRUE(waits(1, anew));
  push(0, 0).get();
  anew.get();
  EXPECT_EQ(value(), 2);
}

TEST_P(LeafServerTest, ALearnerThatHasLeftIsCalledBackWhenServersWentBack) {
  start(Asynchronous{}, 2);
  Future<Reply> one = push(0, 0);
  push(1, 0).get();
  one.get();
  Future<void> left = leave(0);
  run_->restart({"server/0"});
  EXPECT_EQ(push(1, 1, 1, /*version=*/1).get().outcome, PushOutcome::ahead);
  try {
    left.get();
    ADD_FAILURE() << "its push is not there";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::disconnected);
  }
  Future<Reply> anew = push(1, 0);
  EXPECT_TRUE(waits(1, anew));
}

TEST_P(LeafServerTest, RefusesWhatItCannotSumAndNamesWhoPushedIt) {
  start(Asynchronous{}, 4, 2);
  Future<Reply> other = push(1, 0);
  Push wrong = push_of(3, 0, 1);
  wrong.keys.list = Array<std::uint64_t>::copy_of(std::vector<std::uint64_t>{0, 1});
  wrong.keys.hash = hash_of(wrong.keys.list);
  refuse(wrong, "only some keys of a tensor were pushed by worker 3");
  wrong.keys.list = {};
  refuse(wrong, "only some keys of a tensor were pushed by worker 3");
  wrong = push_of(3, 0, 1);
  wrong.values = plain(Array<float>(kParameters + 1));
  refuse(wrong, "the gradient of worker 3 has 11 values, but another learner's has 10");
  refuse(push_of(3, 0, std::numeric_limits<float>::quiet_NaN()),
         "the gradient of worker 3 is not finite: it is nan at element 0");
  wrong = push_of(3, 0, 1);
  wrong.stamp.worker = 2;
  EXPECT_THROW((*leaves_)[1].call<&ParameterService::push>(wrong), Error);
  wrong = push_of(3, 0, 1);
  wrong.shard = 1;
  EXPECT_THROW(push(wrong).get(), Error);
  push(3, 0).get();
  EXPECT_EQ(other.get().outcome, PushOutcome::accepted);
  EXPECT_EQ(value(), 2);
}

TEST_P(LeafServerTest, KeepsSoManyPushesForASlowLearnerAndNoMore) {
  start(Asynchronous{}, 2);
  std::vector<Future<Reply>> ahead;
  for (std::uint64_t clock = 0; clock < Shard::kMostWaiting; ++clock) ahead.push_back(push(0, clock));
  try {
    push(0, Shard::kMostWaiting).get();
    ADD_FAILURE() << "it was kept";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::overloaded);
  }
  push(1, 0).get();
  EXPECT_EQ(ahead[0].get().outcome, PushOutcome::accepted);
}

}  // namespace
}  // namespace lp
