// Servers that fail: replicas take over, pushes are done again, and a server without a replica is an error.

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "lp/lp.h"
#include "nodes/parameters/parameter_client.h"
#include "tests/nodes/parameters/parameter_client_fixture.h"

namespace lp {
namespace {

using test::adding;
using test::counting;
using test::dense;
using test::kServers;
using test::sparse;

using ParameterReplicaTest = test::ParameterClientTest;
INSTANTIATE_TEST_SUITE_P(Paths, ParameterReplicaTest, ::testing::Values(false, true),
                         [](const auto& path) { return path.param ? "Bytes" : "Direct"; });

// A push is acknowledged after its replica has it, and is applied once, however often it is sent. So the sums are exact
// when a primary dies at any moment.
TEST_P(ParameterReplicaTest, AReplicaHasAllThatWasAcknowledged) {
  constexpr std::uint32_t kWorkers = 3;
  constexpr std::uint64_t kPushes = 60;
  const std::vector<float> ones(64, 1.0F);
  for (std::uint64_t moment = 0; moment < 10; ++moment) {
    program_ = Program("servers");
    ParameterServerOptions options = adding(Asynchronous{}, kWorkers);
    options.replicated = true;
    serve({dense(64), sparse()}, options);
    std::vector<std::unique_ptr<ParameterClient>> clients;
    for (std::uint32_t worker = 0; worker < kWorkers; ++worker) {
      clients.push_back(std::make_unique<ParameterClient>(client(worker, {.replicated = true})));
    }
    const auto keys =
        Array<std::uint64_t>::copy_of(std::vector<std::uint64_t>{3, std::uint64_t{1} << 62, ~std::uint64_t{0}});
    Random random(moment, "moment");
    const std::uint64_t when = random.below(kPushes);
    const auto which = static_cast<int>(random.below(kServers));
    for (std::uint64_t push = 0; push < kPushes; ++push) {
      std::vector<ParameterClient::Request> requests;
      for (const auto& one : clients) {
        requests.push_back(one->start_push(0, push, ones, 0));
        requests.push_back(one->start_push_rows(1, push, keys, Array<float>::copy_of(counting(3)), 0));
      }
      if (push == when) kill(which);  // some pushes have been acknowledged, some are in flight
      for (std::size_t i = 0; i < requests.size(); ++i) clients[i / 2]->wait(std::move(requests[i]));
    }
    std::vector<float> got(64);
    clients[0]->wait(clients[0]->start_pull(0, kPushes, got));
    EXPECT_EQ(got, std::vector<float>(64, kWorkers * kPushes)) << "server " << which << " at " << when;
    std::vector<float> rows(3);
    clients[0]->wait(clients[0]->start_pull_rows(1, kPushes, keys, rows));
    EXPECT_EQ(rows, (std::vector<float>{kWorkers * kPushes, 2 * kWorkers * kPushes, 3 * kWorkers * kPushes}));
    run_.reset();
  }
}

TEST_P(ParameterReplicaTest, AllThatIsUnderWayGoesToTheReplica) {
  ParameterServerOptions options = adding(Asynchronous{}, 1);
  options.replicated = true;
  serve({dense(64)}, options);
  ParameterClient one = client(0, {.replicated = true});
  const std::vector<float> ones(64, 1.0F);
  kill(1);
  std::vector<float> got(64);
  std::vector<ParameterClient::Request> requests;
  for (std::uint64_t step = 0; step < 3; ++step) requests.push_back(one.start_push(0, step, ones, 0, got));
  for (ParameterClient::Request& request : requests) one.wait(std::move(request));
  EXPECT_EQ(got, std::vector<float>(64, 3));
}

// It first asks for the servers' positions.
TEST_P(ParameterReplicaTest, AWorkerThatIsRestartedGoesOnWithTheReplicaOfAServerThatIsGone) {
  ParameterServerOptions options = adding(Synchronous{}, 1);
  options.replicated = true;
  serve({dense(64)}, options);
  const std::vector<float> ones(64, 1.0F);
  std::vector<float> got(64);
  ParameterClient before = client(0, {.replicated = true});
  for (std::uint64_t step = 0; step < 2; ++step) before.wait(before.start_push(0, step, ones, 0, got));
  kill(1);
  ParameterClient one = client(0, {.replicated = true});
  EXPECT_EQ(one.position(), 2);
  ParameterClient other = client(0, {.replicated = true});
  EXPECT_EQ(other.pull_common(0, got), 2);
  EXPECT_EQ(got, std::vector<float>(64, 2));
  other.wait(other.start_push(0, 2, ones, 0, got));
  EXPECT_EQ(got, std::vector<float>(64, 3));
}

TEST_P(ParameterReplicaTest, TheReplicaOfAServerThatIsGoneWaitsForNoWorkerThatHasLeft) {
  for (const bool leaves_before : {true, false}) {
    program_ = Program("servers");
    ParameterServerOptions options = adding(Synchronous{}, 2);
    options.replicated = true;
    serve({dense(64)}, options);
    ParameterClient leaver = client(1, {.replicated = true});
    if (leaves_before) leaver.leave();
    kill(1);
    if (!leaves_before) leaver.leave();
    Push push{.shard = 1};
    push.values = plain(Array<float>(key_count(tensors_[0].partition.ranges(1))));
    servers()[2].call<&ParameterServer::push>(push);
    EXPECT_EQ(servers()[2].call<&ParameterServer::position>(0, 1, 0).version, 1) << leaves_before;
    run_.reset();
  }
}

// The answer of a restarted server does not prove that the pushes before it were applied.
TEST_P(ParameterReplicaTest, AWorkerThatHasPushedAllNoticesThatARestartedServerHasLostSome) {
  for (const Consistency& consistency : {Consistency(Synchronous{}), Consistency(StaleSynchronous{})}) {
    program_ = Program("servers");
    serve({dense(64)}, adding(consistency, 1));
    const auto roots = run_->client(GroupHandle<ParameterService>(GroupHandle<ParameterServer>("server", kServers)));
    ParameterClient worker = client();
    worker.confirm(roots, 0);
    std::vector<float> got(64);
    for (std::uint64_t step = 0; step < 2; ++step) {
      worker.wait(worker.start_push(0, step, std::vector<float>(64, 1), 0, got));
    }
    worker.confirm(roots, 0);
    run_->restart({"server/0", "server/1", "server/2"});
    worker.leave();
    EXPECT_THROW(worker.confirm(roots, 0), Error);
    EXPECT_EQ(worker.position(), 0);
    worker.confirm(roots, 0);
    run_.reset();
  }
}

// A server with none of the pulled rows would take it for ahead of the version that it read before.
TEST_P(ParameterReplicaTest, AWorkerThatAsksWhereTheServersArePushesRowsThatItHasNotPulledSince) {
  serve({dense(64)}, adding(StaleSynchronous{}, 1));
  ParameterClient worker = client();
  std::vector<float> got(64);
  for (std::uint64_t step = 0; step < 2; ++step) {
    worker.wait(worker.start_push(0, step, std::vector<float>(64, 1), 0, got));
  }
  run_->restart({"server/0", "server/1", "server/2"});
  EXPECT_EQ(worker.position(), 0);
  const Array<std::uint64_t> first = Array<std::uint64_t>::copy_of(std::vector<std::uint64_t>{0});
  worker.wait(worker.start_push_rows(0, 0, first, Array<float>::copy_of(std::vector<float>{1}), 0));
  EXPECT_EQ(worker.position(), 1);
}

TEST_P(ParameterReplicaTest, APushIsAcknowledgedOnlyWhenItsReplicaHasIt) {
  ParameterServerOptions options = adding(Asynchronous{}, 1);
  options.replicated = true;
  serve({dense(64)}, options);
  Event release;
  run_->probe("server/1", [&release] { release.wait(); });  // it is in the middle of a handler
  const Client<ParameterServer> primary = servers()[0];
  Push push;
  push.values = plain(Array<float>(key_count(tensors_[0].partition.ranges(0))));
  auto acknowledged = primary.async<&ParameterServer::push>(push);
  EXPECT_EQ(primary.call<&ParameterServer::position>(0, 0, 0).version, 1);  // the primary has it
  auto repeated = primary.async<&ParameterServer::push>(push);
  EXPECT_EQ(primary.call<&ParameterServer::position>(0, 0, 0).version, 1);
  EXPECT_FALSE(acknowledged.ready());
  EXPECT_FALSE(repeated.ready());  // the push that it repeats may be lost with the primary
  release.set();
  EXPECT_EQ(acknowledged.get().outcome, PushOutcome::accepted);
  EXPECT_EQ(repeated.get().outcome, PushOutcome::duplicate);
  EXPECT_EQ(servers()[1].call<&ParameterServer::position>(0, 0, 0).version, 1);
}

// Downpour: a worker that pushes without reading sends no version by which a server could see that it went back.
TEST_P(ParameterReplicaTest, PushesThatAServerLostAreDoneAgain) {
  serve({dense(64)}, adding(Asynchronous{}, 1));
  ParameterClient one = client();
  const std::vector<float> ones(64, 1.0F);
  for (std::uint64_t step = 0; step < 5; ++step) one.wait(one.start_push(0, step, ones, 0));
  run_->restart({"server/0", "server/1", "server/2"});
  try {
    one.wait(one.start_push(0, 5, ones, 0));
    ADD_FAILURE() << "the servers do not miss steps 0 to 4";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::disconnected) << error.what();
  }
  EXPECT_EQ(one.position(), 0);
  for (std::uint64_t step = 0; step < 6; ++step) one.wait(one.start_push(0, step, ones, 0));
  std::vector<float> got(64);
  one.wait(one.start_pull(0, 6, got));
  EXPECT_EQ(got, std::vector<float>(64, 6));
}

TEST_P(ParameterReplicaTest, AServerThatIsGoneWithoutAReplicaIsAnError) {
  serve({dense(64)}, adding(Asynchronous{}, 1));
  ParameterClient one = client();
  const std::vector<float> ones(64, 1.0F);
  one.wait(one.start_push(0, 0, ones, 0));
  kill(1);
  try {
    one.wait(one.start_push(0, 1, ones, 0));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::disconnected) << error.what();
  }
}

}  // namespace
}  // namespace lp
