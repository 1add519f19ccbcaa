// Clients and several servers: split values come together again, key lists are sent once, replicas take over.
#include "nodes/parameters/parameter_client.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "lp/lp.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

constexpr std::uint32_t kServers = 3;

ParameterServerOptions adding(const Consistency& consistency, std::uint32_t workers) {
  return {.shard = {.rule = Sum{}, .consistency = consistency, .workers = workers}};
}

Tensor dense(std::uint64_t keys, std::uint32_t width = 1) {
  return {.partition = Partition::ring(keys, kServers), .width = width};
}
Tensor sparse(std::uint32_t width = 1) {
  return {.partition = Partition::ring(0, kServers), .width = width, .sparse = true};
}

class ParameterClientTest : public ::testing::TestWithParam<bool> {
 protected:
  void serve(std::vector<Tensor> tensors, const ParameterServerOptions& options) {
    tensors_ = std::move(tensors);
    auto servers = program_.declare_group<ParameterServer>({.name = "server", .replicas = kServers});
    program_.define(servers, context, tensors_, options,
                    options.replicated ? servers : GroupHandle<ParameterServer>("server", 0));
    Runtime::Options runtime;
    runtime.run.serialize = GetParam();
    run_.emplace(program_, runtime);
  }
  Clients<ParameterServer> servers() { return run_->client(GroupHandle<ParameterServer>("server", kServers)); }
  ParameterClient client(std::uint32_t worker = 0, ParameterClientOptions options = {}) {
    options.worker = worker;
    return ParameterClient(
        run_->client(GroupHandle<ParameterService>(GroupHandle<ParameterServer>("server", kServers))), tensors_,
        options);
  }
  // Acts as a supervisor whose policy is to ignore the failure.
  void kill(int server) {
    const NodeId node = run_->id("server/" + std::to_string(server));
    run_->runtime().stop(node, "it is killed");
    EXPECT_TRUE(run_->runtime().join(node, after(std::chrono::seconds(20))));
    const std::vector<PeerState> news{{.node = node, .incarnation = 2, .gone = true, .text = "it was killed"}};
    run_->runtime().update(news);
  }

  Program program_{"servers"};
  std::vector<Tensor> tensors_;
  std::optional<LocalRun> run_;
};
INSTANTIATE_TEST_SUITE_P(Paths, ParameterClientTest, ::testing::Values(false, true),
                         [](const auto& path) { return path.param ? "Bytes" : "Direct"; });

std::vector<float> counting(std::size_t size) {
  std::vector<float> out(size);
  std::iota(out.begin(), out.end(), 1.0F);
  return out;
}

TEST_P(ParameterClientTest, WhatIsCutComesTogetherAgain) {
  serve({dense(101), dense(20, 3)}, adding(Asynchronous{}, 1));
  ParameterClient one = client();
  const std::vector<float> first = counting(101);
  const std::vector<float> second = counting(60);
  std::vector<float> got(101);
  one.wait(one.start_push(0, 0, first, 0, got));
  EXPECT_EQ(got, first);
  one.wait(one.start_push(1, 0, second, 0));
  std::vector<float> other(60);
  const Arrival arrival = one.wait(one.start_pull(1, 1, other));
  EXPECT_EQ(other, second);
  EXPECT_EQ(arrival.newest, 1);
  EXPECT_EQ(one.traffic().sent, (101 + 60) * sizeof(float));
  EXPECT_EQ(one.traffic().received, (101 + 60) * sizeof(float));
}

// MXNet: a push comes after the pushes and pulls of the same keys that were begun before it.
TEST_P(ParameterClientTest, RequestsAreServedInTheOrderInWhichTheyAreBegun) {
  serve({dense(101)}, adding(Asynchronous{}, 1));
  ParameterClient one = client();
  const std::vector<float> ones(101, 1.0F);
  std::vector<std::vector<float>> got(20, std::vector<float>(101));
  std::vector<ParameterClient::Request> requests;
  for (std::uint64_t i = 0; i < got.size(); ++i) {
    requests.push_back(one.start_pull(0, i, got[i]));
    requests.push_back(one.start_push(0, i, ones, 0));
  }
  for (ParameterClient::Request& request : requests) one.wait(std::move(request));
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], std::vector<float>(101, static_cast<float>(i)));
}

TEST_P(ParameterClientTest, RowsGoToTheirServersAndBack) {
  serve({sparse(2), dense(101)}, adding(Asynchronous{}, 1));
  ParameterClient one = client();
  Random random(1, "keys");
  std::set<std::uint64_t> unique;
  while (unique.size() < 200) unique.insert(random());
  const auto keys = Array<std::uint64_t>::copy_of(std::vector<std::uint64_t>(unique.begin(), unique.end()));
  const auto rows = Array<float>::copy_of(counting(400));
  one.wait(one.start_push_rows(0, 0, keys, rows, 0));
  std::vector<float> got(400);
  one.wait(one.start_pull_rows(0, 1, keys, got));
  EXPECT_EQ(got, counting(400));
  for (const auto& server : servers().all<&ParameterServer::statistics>()) EXPECT_EQ(server.shards.applied, 1);
  const auto some = Array<std::uint64_t>::copy_of(std::vector<std::uint64_t>{7, 50, 99});
  one.wait(one.start_push_rows(1, 0, some, Array<float>::copy_of(counting(3)), 0));
  std::vector<float> all(101);
  one.wait(one.start_pull(1, 1, all));
  EXPECT_EQ(std::accumulate(all.begin(), all.end(), 0.0F), 6);
  EXPECT_EQ(all[50], 2);
}

TEST_P(ParameterClientTest, APushOfNoRowsGoesToEveryServer) {
  serve({sparse()}, adding(Asynchronous{}, 1));
  ParameterClient one = client(0);
  one.wait(one.start_push_rows(0, 0, {}, {}, 0));
  for (std::uint32_t server = 0; server < kServers; ++server) {
    EXPECT_EQ(servers()[server].call<&ParameterServer::position>(0, server, 0).clock, 1);
  }
  const auto keys = Array<std::uint64_t>::copy_of(std::vector<std::uint64_t>{1, std::uint64_t{1} << 63});
  EXPECT_EQ(one.wait(one.start_push_rows(0, 1, keys, Array<float>::copy_of(counting(2)), 0)).oldest, 2);
}

TEST_P(ParameterClientTest, ARepeatedListTravelsAsItsHash) {
  serve({sparse()}, adding(Asynchronous{}, 2));
  ParameterClient one = client(0);
  const auto keys = Array<std::uint64_t>::copy_of(std::vector<std::uint64_t>{1, 2, 3, std::uint64_t{1} << 63});
  const auto rows = Array<float>::copy_of(counting(4));
  for (std::uint64_t step = 0; step < 5; ++step) one.wait(one.start_push_rows(0, step, keys, rows, 0));
  EXPECT_EQ(one.traffic().sent, 4 * sizeof(std::uint64_t) + 5 * 4 * sizeof(float));
  std::vector<float> got(4);
  one.wait(one.start_pull_rows(0, 5, keys, got));
  EXPECT_EQ(got, (std::vector<float>{5, 10, 15, 20}));
  EXPECT_EQ(one.traffic().sent, 4 * sizeof(std::uint64_t) + 5 * 4 * sizeof(float));
}

TEST_P(ParameterClientTest, AServerThatForgotAListIsSentItAgain) {
  serve({sparse()}, adding(Asynchronous{}, 1));
  ParameterClient one = client(0);
  const auto keys = Array<std::uint64_t>::copy_of(std::vector<std::uint64_t>{1, 2, 3, std::uint64_t{1} << 63});
  const auto rows = Array<float>::copy_of(counting(4));
  one.wait(one.start_push_rows(0, 0, keys, rows, 0));
  run_->restart({"server/0", "server/1", "server/2"});
  EXPECT_EQ(one.position(), 0);
  one.wait(one.start_push_rows(0, 0, keys, rows, 0));
  std::vector<float> got(4);
  one.wait(one.start_pull_rows(0, 1, keys, got));
  EXPECT_EQ(got, counting(4));
}

TEST_P(ParameterClientTest, CompressionCutsBytesAndLosesNothingOverTime) {
  serve({dense(10'000)}, adding(Asynchronous{}, 1));
  ParameterClient one = client(0, {.compression = {.kind = Compression::top_k, .share = 0.01}});
  const std::vector<float> gradient(10'000, 1.0F);
  for (std::uint64_t step = 0; step < 300; ++step) one.wait(one.start_push(0, step, gradient, 0));
  EXPECT_NEAR(static_cast<double>(one.traffic().sent), 300.0 * 100 * 8, 300 * 2 * 8);  // an index and a value
  std::vector<float> got(10'000);
  one.wait(one.start_pull(0, 300, got));
  for (const float value : got) {
    EXPECT_GE(value, 100);  // each was sent about every 100 steps, with its residual
    EXPECT_LE(value, 300);
  }
}

TEST_P(ParameterClientTest, AUsersFilterComesBeforeTheCompression) {
  serve({dense(100)}, adding(Asynchronous{}, 1));
  ParameterClient one = client(
      0, {.compression = {.kind = Compression::significant, .threshold = 1}, .filter = [](std::span<float> values) {
            for (float& value : values) value = value > 90 ? value : 0;
          }});
  one.wait(one.start_push(0, 0, counting(100), 0));
  EXPECT_EQ(one.traffic().sent, 10 * 8);  // an index and a value each
  std::vector<float> got(100);
  one.wait(one.start_pull(0, 1, got));
  EXPECT_EQ(std::count(got.begin(), got.end(), 0.0F), 90);
  EXPECT_EQ(got[99], 100);
}

TEST_P(ParameterClientTest, AFilterChangesRowsToo) {
  serve({dense(100)}, adding(Asynchronous{}, 1));
  ParameterClient one = client(0, {.filter = [](std::span<float> values) {
                                 for (float& value : values) value *= 2;
                               }});
  const auto keys = Array<std::uint64_t>::copy_of(std::vector<std::uint64_t>{3, 50, 99});
  one.wait(one.start_push_rows(0, 0, keys, Array<float>::copy_of(counting(3)), 0));
  std::vector<float> got(3);
  one.wait(one.start_pull_rows(0, 1, keys, got));
  EXPECT_EQ(got, (std::vector<float>{2, 4, 6}));
}

TEST_P(ParameterClientTest, RowsAreNotCompressedInSilence) {
  serve({dense(100)}, adding(Asynchronous{}, 1));
  const auto keys = Array<std::uint64_t>::copy_of(std::vector<std::uint64_t>{3});
  for (const CompressionOptions& options :
       {CompressionOptions{.kind = Compression::top_k}, CompressionOptions{.clip = 1}}) {
    ParameterClient one = client(0, {.compression = options});
    EXPECT_THROW(static_cast<void>(one.start_push_rows(0, 0, keys, Array<float>(1), 0)), Error);
  }
}

constexpr Compression kEveryCompression[] = {Compression::none,     Compression::one_bit,     Compression::top_k,
                                             Compression::random_k, Compression::significant, Compression::dither};

TEST_P(ParameterClientTest, WhatIsNotFiniteIsRefusedBeforeItIsCompressed) {
  serve({dense(100)}, adding(Asynchronous{}, 1));
  for (const Compression kind : kEveryCompression) {
    ParameterClient one = client(0, {.compression = {.kind = kind, .share = 0.01}});
    std::vector<float> gradient(100, 1);
    gradient[42] = std::numeric_limits<float>::quiet_NaN();
    try {
      one.wait(one.start_push(0, 0, gradient, 0));
      ADD_FAILURE() << static_cast<int>(kind);
    } catch (const Error& error) {
      EXPECT_NE(error.text().find("worker 0"), std::string::npos) << error.what();
      EXPECT_NE(error.text().find("element 42"), std::string::npos) << error.what();
    }
    for (const Array<float>& residual : one.residuals()) EXPECT_EQ(residual.size(), 0U);
  }
}

TEST_P(ParameterClientTest, AClippedGradientHasNoEffectOnWhatFollows) {
  for (const Compression kind : kEveryCompression) {
    program_ = Program("servers");
    serve({dense(100)}, adding(Asynchronous{}, 1));
    ParameterClient one = client(0, {.compression = {.kind = kind, .share = 0.1}, .bad_values = BadValues::clip});
    std::vector<float> gradient(100, 1);
    gradient[42] = std::numeric_limits<float>::quiet_NaN();
    one.wait(one.start_push(0, 0, gradient, 0));
    gradient[42] = 1;
    for (std::uint64_t step = 1; step < 200; ++step) one.wait(one.start_push(0, step, gradient, 0));
    std::vector<float> got(100);
    one.wait(one.start_pull(0, 200, got));
    EXPECT_GT(got[42], 50) << static_cast<int>(kind);
  }
}

TEST_P(ParameterClientTest, AGradientIsClippedAsAWholeWhoeverOwnsItsParts) {
  serve({dense(100)}, adding(Asynchronous{}, 1));
  ParameterClient one = client(0, {.bad_values = BadValues::clip});
  std::vector<float> gradient(100, -7);
  one.wait(one.start_push(0, 0, gradient, 0));
  std::vector<float> got(100);
  one.wait(one.start_pull(0, 1, got));
  EXPECT_EQ(got, gradient);  // all values are finite
  gradient[42] = std::numeric_limits<float>::infinity();
  one.wait(one.start_push(0, 1, gradient, 0));
  one.wait(one.start_pull(0, 2, got));
  std::vector<float> expected(100, -8);
  expected[42] = -6;
  EXPECT_EQ(got, expected);
}

// The choices of random_k are a function of the step, too.
TEST_P(ParameterClientTest, AnotherClientGoesOnFromTheResiduals) {
  const std::vector<float> gradient = counting(100);
  for (const Compression kind : kEveryCompression) {
    const ParameterClientOptions options{.compression = {.kind = kind, .share = 0.1, .threshold = 150}, .seed = 9};
    std::vector<float> expected(100);
    for (const bool restarted : {false, true}) {
      program_ = Program("servers");
      serve({dense(100)}, adding(Asynchronous{}, 1));
      ParameterClient first = client(0, options);
      for (std::uint64_t step = 0; step < 5; ++step) first.wait(first.start_push(0, step, gradient, 0));
      ParameterClient second = client(0, options);
      second.restore(first.residuals());
      ParameterClient& one = restarted ? second : first;
      for (std::uint64_t step = 5; step < 10; ++step) one.wait(one.start_push(0, step, gradient, 0));
      std::vector<float> got(100);
      one.wait(one.start_pull(0, 10, got));
      if (!restarted) expected = got;
      EXPECT_EQ(got, expected) << static_cast<int>(kind);
    }
  }
  ParameterClient one = client(0);
  EXPECT_THROW(one.restore(std::vector<Array<float>>(kServers + 1)), Error);
}

TEST_P(ParameterClientTest, KeysThatDoNotAscendAreRefused) {
  serve({sparse()}, adding(Asynchronous{}, 1));
  ParameterClient one = client(0);
  const auto keys = Array<std::uint64_t>::copy_of(std::vector<std::uint64_t>{2, 1});
  EXPECT_THROW(one.wait(one.start_push_rows(0, 0, keys, Array<float>(2), 0)), Error);
  EXPECT_THROW(one.wait(one.start_push_rows(0, 0, keys, Array<float>(3), 0)), Error);
}

// A push is acknowledged after its replica has it, and is applied once, however often it is sent. So the sums are exact
// when a primary dies at any moment.
TEST_P(ParameterClientTest, AReplicaHasAllThatWasAcknowledged) {
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

TEST_P(ParameterClientTest, AllThatIsUnderWayGoesToTheReplica) {
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
TEST_P(ParameterClientTest, AWorkerThatIsRestartedGoesOnWithTheReplicaOfAServerThatIsGone) {
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

TEST_P(ParameterClientTest, TheReplicaOfAServerThatIsGoneWaitsForNoWorkerThatHasLeft) {
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

// A call that a restarted server answers says nothing about the pushes before it.
TEST_P(ParameterClientTest, AWorkerThatHasPushedAllNoticesThatARestartedServerHasLostSome) {
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
TEST_P(ParameterClientTest, AWorkerThatAsksWhereTheServersArePushesRowsThatItHasNotPulledSince) {
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

TEST_P(ParameterClientTest, APushIsAcknowledgedOnlyWhenItsReplicaHasIt) {
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
TEST_P(ParameterClientTest, PushesThatAServerLostAreDoneAgain) {
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

TEST_P(ParameterClientTest, AServerThatIsGoneWithoutAReplicaIsAnError) {
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

// The server was restarted, and the others wait for workers that wait for it: its answer must not wait for theirs.
TEST_P(ParameterClientTest, AServerThatIsBehindIsHeardThoughOthersDoNotAnswer) {
  serve({dense(64)}, adding(Synchronous{}, 2));
  ParameterClient one = client(0);
  ParameterClient two = client(1);
  const std::vector<float> ones(64, 1.0F);
  std::vector<float> got(64);
  ParameterClient::Request first = one.start_push(0, 0, ones, 0, got);
  two.wait(two.start_push(0, 0, ones, 0));
  one.wait(std::move(first));
  run_->restart({"server/2"});
  const auto expect_behind = [&](ParameterClient::Request request, const std::string& why) {
    try {
      one.wait(std::move(request));
      ADD_FAILURE() << why;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::disconnected) << error.what();
      EXPECT_NE(error.text().find(why), std::string::npos) << error.text();
    }
  };
  expect_behind(one.start_push(0, 1, ones, 0), "a server is behind what it was read at");
  const auto first_key = tensors_[0].partition.ranges(0).front().begin;  // a key of server 0, which is idle now
  const auto keys = Array<std::uint64_t>::copy_of(std::vector<std::uint64_t>{first_key});
  ParameterClient::Request pull = one.start_pull_rows(0, 2, keys, std::span(got).first(1));
  ParameterClient::Request push = one.start_push(0, 1, ones, 0);
  expect_behind(std::move(pull), "a server is behind what it was read at");
  expect_behind(std::move(push), "has ended with another one");
}

// Petuum: a read from several servers has the updates that the slowest worker has done at all of them.
TEST_P(ParameterClientTest, AReadIsAsNewAsItsOldestPart) {
  for (std::uint32_t behind = 0; behind < kServers; ++behind) {
    program_ = Program("servers");
    serve({dense(30)}, adding(StaleSynchronous{.staleness = 5}, 2));
    const auto push = [&](std::uint32_t server, std::uint32_t worker) {
      Push zeros{.shard = server, .stamp = {.worker = worker}};
      zeros.values = plain(Array<float>(key_count(tensors_[0].partition.ranges(server))));
      servers()[server].call<&ParameterServer::push>(zeros);
    };
    for (std::uint32_t server = 0; server < kServers; ++server) {
      push(server, 0);
      if (server != behind) push(server, 1);
    }
    ParameterClient one = client(0);
    std::vector<float> got(30);
    EXPECT_EQ(one.wait(one.start_pull(0, 1, got)).slowest, 0) << "server " << behind << " is behind";
    push(behind, 1);
    EXPECT_EQ(one.wait(one.start_pull(0, 1, got)).slowest, 1);
    run_.reset();
  }
}

TEST_P(ParameterClientTest, RowsOfAnotherNumberThanItsTensorHasAreRefused) {
  serve({dense(30)}, adding(Asynchronous{}, 1));
  tensors_ = {dense(20)};
  ParameterClient one = client();
  std::vector<float> got(20);
  try {
    one.wait(one.start_pull(0, 0, got));
    ADD_FAILURE() << "it was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::failed);
    EXPECT_NE(error.text().find("is its tensor that of this worker?"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace lp
