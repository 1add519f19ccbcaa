#include "nodes/parameters/parameter_server.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "lp/checkpoint/cut.h"
#include "lp/gpu/toolkit.h"
#include "lp/lp.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

constexpr std::size_t kRows = 1003;  // not a multiple of a vector

Array<float> gradient_of(std::uint64_t step, std::uint32_t worker) {
  Array<float> gradient(kRows);
  Random random(7, "gradient/" + std::to_string(worker), step);
  for (float& value : gradient.edit()) value = static_cast<float>(random.normal());
  return gradient;
}

// A push of one of three workers, which have ten examples together.
Push push_of(std::uint64_t step, std::uint32_t worker, Array<float> gradient) {
  Push push;
  push.stamp = {.worker = worker, .clock = step, .version = step};
  push.examples = worker == 0 ? 4 : 3;
  push.values = plain(std::move(gradient));
  push.pull = true;
  return push;
}
Push push_of(std::uint64_t step, std::uint32_t worker) { return push_of(step, worker, gradient_of(step, worker)); }

std::vector<Tensor> one_tensor(std::uint64_t size) { return {{.partition = Partition::slices(size, 1)}}; }
const GroupHandle<ParameterServer> kNobody("server", 0);

// The parameter: whether calls go directly or through bytes.
class ParameterServerTest : public ::testing::TestWithParam<bool> {
 protected:
  struct Server {
    Program program{"server"};
    Handle<ParameterServer> handle;
    LocalRun run;

    Server(const Runtime::Options& options, const ParameterServerOptions& server)
        : handle(program.add<ParameterServer>({.name = "server"}, context, one_tensor(kRows), server, kNobody)),
          run(program, options) {}
    Client<ParameterServer> client() { return run.client(handle); }
    std::uint64_t step() { return client().call<&ParameterServer::position>(0, 0, 0).version; }
  };

  Runtime::Options runtime() const {
    Runtime::Options options;
    options.run.serialize = GetParam();
    return options;
  }
  Server serve(const ParameterServerOptions& options) const { return Server(runtime(), options); }

  static const ParameterServerOptions kThree;
};
const ParameterServerOptions ParameterServerTest::kThree{.shard = {.rule = Momentum{.rate = 0.05F}, .workers = 3}};
INSTANTIATE_TEST_SUITE_P(Paths, ParameterServerTest, ::testing::Values(false, true),
                         [](const auto& path) { return path.param ? "Bytes" : "Direct"; });

// The parameters after this many steps of three workers, in closed form.
Array<float> expected(std::uint64_t steps) {
  Optimizer optimizer{.rule = Momentum{.rate = 0.05F}};
  Array<float> parameters(kRows);
  for (std::uint64_t step = 0; step < steps; ++step) {
    Array<float> sum = gradient_of(step, 0);
    const std::span<float> mean = sum.edit();
    for (const std::uint32_t worker : {1U, 2U}) {
      const Array<float> gradient = gradient_of(step, worker);
      for (std::size_t i = 0; i < kRows; ++i) mean[i] += gradient[i];
    }
    for (float& value : mean) value /= 10;
    optimizer.apply(parameters.edit(), mean);
  }
  return parameters;
}

// One step, with the workers' gradients in this order.
Array<float> train(const Client<ParameterServer>& client, std::uint64_t step, const std::vector<std::uint32_t>& order) {
  std::vector<Future<Reply>> pushes;
  pushes.reserve(order.size());
  for (const std::uint32_t worker : order) {
    pushes.push_back(client.async<&ParameterServer::push>(push_of(step, worker)));
  }
  return when_all(std::move(pushes)).get().front().values;
}

template <class F>
Error thrown_by(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return Error(ErrorKind::failed, "");
}

TEST_P(ParameterServerTest, AppliesTheMeanInTheOrderOfTheWorkersHoweverTheyCome) {
  Server server = serve(kThree);
  const std::vector<std::vector<std::uint32_t>> orders = {{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {2, 0, 1}};
  for (std::uint64_t step = 0; step < orders.size(); ++step) {
    EXPECT_EQ(train(server.client(), step, orders[step]), expected(step + 1)) << step;
  }
  EXPECT_EQ(server.step(), orders.size());
}

TEST_P(ParameterServerTest, APushWaitsForAllAndHoldsNoTurn) {
  Server server = serve(kThree);
  auto first = server.client().async<&ParameterServer::push>(push_of(0, 2));
  auto second = server.client().async<&ParameterServer::push>(push_of(0, 0));
  auto later = server.client().async<&ParameterServer::pull>(Pull{.clock = 1});
  EXPECT_EQ(server.step(), 0);
  EXPECT_FALSE(first.ready() || second.ready() || later.ready());
  EXPECT_EQ(server.client().call<&ParameterServer::push>(push_of(0, 1)).values, expected(1));
  EXPECT_EQ(first.get().values, expected(1));
  EXPECT_EQ(second.get().values, expected(1));
  EXPECT_EQ(later.get().values, expected(1));
}

TEST_P(ParameterServerTest, ARepeatedPushCountsOnce) {
  Server server = serve(kThree);
  auto first = server.client().async<&ParameterServer::push>(push_of(0, 0));
  auto again = server.client().async<&ParameterServer::push>(push_of(0, 0, gradient_of(5, 0)));  // it replaces nothing
  auto other = server.client().async<&ParameterServer::push>(push_of(0, 1));
  EXPECT_EQ(server.step(), 0);
  EXPECT_EQ(server.client().call<&ParameterServer::push>(push_of(0, 2)).values, expected(1));
  EXPECT_EQ(first.get().values, expected(1));
  const Reply repeated = again.get();
  EXPECT_EQ(repeated.outcome, PushOutcome::duplicate);
  EXPECT_EQ(repeated.values, expected(1));
  EXPECT_EQ(other.get().values, expected(1));
  // A push that is applied already is answered again.
  EXPECT_EQ(server.client().call<&ParameterServer::push>(push_of(0, 1)).values, expected(1));
  EXPECT_EQ(server.step(), 1);
  EXPECT_EQ(server.client().call<&ParameterServer::statistics>().shards.duplicates, 2);
}

TEST_P(ParameterServerTest, KeepsTheVersionBefore) {
  Server server = serve(kThree);
  train(server.client(), 0, {0, 1, 2});
  train(server.client(), 1, {0, 1, 2});
  EXPECT_EQ(server.client().call<&ParameterServer::pull>(Pull{.clock = 2}).values, expected(2));
  const ShardVersions versions = server.client().call<&ParameterServer::versions>(0, 0);
  EXPECT_EQ(versions.step, 2);
  EXPECT_EQ(versions.newest, expected(2));
  EXPECT_EQ(versions.previous, expected(1));
  EXPECT_EQ(versions.ranges, (std::vector<KeyRange>{{0, kRows - 1}}));
}

TEST_P(ParameterServerTest, APushOfAnotherStepChangesNothing) {
  Server server = serve(kThree);
  train(server.client(), 0, {0, 1, 2});
  train(server.client(), 1, {0, 1, 2});
  for (const std::uint64_t step : {std::uint64_t{3}, std::numeric_limits<std::uint64_t>::max()}) {
    EXPECT_EQ(server.client().call<&ParameterServer::push>(push_of(step, 0)).outcome, PushOutcome::ahead);
  }
  EXPECT_EQ(server.client().call<&ParameterServer::push>(push_of(0, 0)).outcome, PushOutcome::duplicate);
  EXPECT_EQ(train(server.client(), 2, {2, 1, 0}), expected(3));
}

TEST_P(ParameterServerTest, RefusesABadGradientAndNamesItsWorker) {
  Server server = serve(kThree);
  const auto refused = [&](std::uint32_t worker, Array<float> gradient) {
    const Error error = thrown_by([&] { server.client().call<&ParameterServer::push>(push_of(0, worker, gradient)); });
    EXPECT_EQ(error.kind(), ErrorKind::failed) << error.what();
    EXPECT_NE(error.text().find("worker " + std::to_string(worker)), std::string::npos) << error.what();
    return error.text();
  };
  refused(1, Array<float>(kRows - 1));
  refused(1, Array<float>());
  refused(3, gradient_of(0, 1));
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Array<float> gradient = gradient_of(0, 1);
    gradient.edit()[kRows - 1] = bad;
    const std::string text = refused(1, gradient);
    EXPECT_NE(text.find("element 1002"), std::string::npos) << text;
  }
  EXPECT_EQ(train(server.client(), 0, {1, 0, 2}), expected(1));
}

TEST_P(ParameterServerTest, RefusesWhatIsNotThere) {
  Server server = serve(kThree);
  const auto text = [&](const Pull& pull) {
    return thrown_by([&] { server.client().call<&ParameterServer::pull>(pull); }).text();
  };
  EXPECT_NE(text(Pull{.tensor = 1}).find("no tensor 1"), std::string::npos);
  EXPECT_NE(text(Pull{.shard = 1}).find("shard 1 is not on server 0"), std::string::npos);
  Pull pull;
  pull.keys.list = Array<std::uint64_t>::copy_of(std::vector<std::uint64_t>{7, kRows});
  EXPECT_NE(text(pull).find("key 1003"), std::string::npos);
  pull.keys.list = Array<std::uint64_t>::copy_of(std::vector<std::uint64_t>{7, 5});
  EXPECT_NE(text(pull).find("keys must ascend"), std::string::npos);
}

TEST_P(ParameterServerTest, AKnownListTravelsAsItsHash) {
  Server server = serve(kThree);
  train(server.client(), 0, {0, 1, 2});
  Pull pull;
  const auto list = Array<std::uint64_t>::copy_of(std::vector<std::uint64_t>{3, 500, 501, 1002});
  pull.keys.hash = hash_of(list);
  EXPECT_EQ(server.client().call<&ParameterServer::pull>(pull).outcome, PushOutcome::unknown_list);
  pull.keys.list = list;
  const Array<float> values = server.client().call<&ParameterServer::pull>(pull).values;
  for (std::size_t i = 0; i < list.size(); ++i) EXPECT_EQ(values[i], expected(1)[list[i]]);
  pull.keys.list = {};
  EXPECT_EQ(server.client().call<&ParameterServer::pull>(pull).values, values);
  pull.keys.list = Array<std::uint64_t>::copy_of(std::vector<std::uint64_t>{3});
  pull.keys.hash = 5;
  EXPECT_NE(thrown_by([&] { server.client().call<&ParameterServer::pull>(pull); }).text().find("has a wrong hash"),
            std::string::npos);
}

TEST_P(ParameterServerTest, AReadByAWorkerWhoseTasksWereLostIsAnsweredAtOnce) {
  Server server = serve({.shard = {.rule = Sum{}, .consistency = BoundedDelay{}, .workers = 1}});
  for (std::uint64_t task = 0; task < 3; ++task) server.client().call<&ParameterServer::push>(push_of(task, 0));
  auto waits = server.client().async<&ParameterServer::pull>(Pull{.worker = 0, .clock = 3});
  EXPECT_EQ(waits.get().version, 3);
  server.run.restart({"server"});  // without a cut
  EXPECT_EQ(server.client().call<&ParameterServer::pull>(Pull{.worker = 0, .clock = 3}).outcome, PushOutcome::ahead);
}

TEST_P(ParameterServerTest, GoesOnFromACut) {
  const std::filesystem::path directory =
      ::testing::TempDir() + "lp_parameter_server_" + (GetParam() ? "bytes" : "direct");
  std::filesystem::remove_all(directory);
  Runtime::Options options = runtime();
  options.run.directory = directory;
  ParameterServerOptions three = kThree;
  three.checkpoint_every = 2;
  {
    Server server(options, three);
    for (std::uint64_t step = 0; step < 5; ++step) train(server.client(), step, {0, 1, 2});
    server.run.wait_saved(4, 1);
    // A waiting push meets the restored server, for which it is of a later step.
    auto waits = server.client().async<&ParameterServer::push>(push_of(5, 0));
    server.run.restart({"server"}, cut_directory(directory, 4));
    EXPECT_EQ(waits.get().outcome, PushOutcome::ahead);
    const ShardVersions versions = server.client().call<&ParameterServer::versions>(0, 0);
    EXPECT_EQ(versions.step, 4);
    EXPECT_EQ(versions.newest, expected(4));
    EXPECT_TRUE(versions.previous.empty());
    EXPECT_EQ(train(server.client(), 4, {2, 1, 0}), expected(5));
  }
  const auto refused = [&](const ParameterServerOptions& server_options, std::uint64_t seed) {
    options.run.seed = seed;
    Server server(options, server_options);
    server.run.restart({"server"}, cut_directory(directory, 4));
    const auto failed = server.run.failed();
    return failed.count("server") == 0 ? std::string() : failed.at("server").text();
  };
  ParameterServerOptions other = three;
  other.shard.rule = Sgd{};
  EXPECT_NE(refused(other, 0).find("resume with the same model, servers and optimizer"), std::string::npos);
  EXPECT_NE(refused(three, 1).find("seed 0"), std::string::npos);
  EXPECT_EQ(refused(three, 0), "");
  std::filesystem::remove_all(directory);
}

TEST_P(ParameterServerTest, OnADeviceItNeedsAGpuAndFailsWithTheReason) {
  const std::string obstacle = gpu::obstacle_here();
  if (obstacle.empty()) return;  // with a GPU, tests of the label gpu use it
  Program program("server");
  ParameterServerOptions options = kThree;
  options.on_device = true;
  program.add<ParameterServer>({.name = "server"}, context, one_tensor(kRows), options, kNobody);
  LocalRun run(program, runtime(), LocalRun::kNothingHere);
  run.start_one("server", 1);
  const auto failed = run.failed();
  ASSERT_EQ(failed.count("server"), 1U);
  EXPECT_NE(failed.at("server").text().find(obstacle), std::string::npos) << failed.at("server").text();
}

// An update of softsync takes several gradients, so that the last update has a lower number than the last step.
TEST_P(ParameterServerTest, ACutIsTakenWhenAllWorkersHaveLeft) {
  const std::filesystem::path directory = ::testing::TempDir() + "lp_all_left_" + (GetParam() ? "bytes" : "direct");
  std::filesystem::remove_all(directory);
  Runtime::Options options = runtime();
  options.run.directory = directory;
  Server server(options, {.shard = {.rule = Sum{}, .consistency = Softsync{}, .workers = 3}, .last_step = 6});
  for (std::uint64_t clock = 0; clock < 2; ++clock) {
    for (std::uint32_t worker = 0; worker < 3; ++worker) {
      Push push = push_of(clock, worker);
      push.stamp.version = 0;
      server.client().call<&ParameterServer::push>(push);
    }
  }
  for (const std::uint32_t worker : {0U, 1U, 2U}) server.client().call<&ParameterServer::leave>(worker, 0);
  server.run.wait_saved(2, 1);
  std::filesystem::remove_all(directory);
}

// With backup workers the servers do not make equally many updates after the last step, so that such a cut would never
// be complete.
TEST_P(ParameterServerTest, NoCutIsTakenAfterTheLastStepOfASynchronousTraining) {
  const std::filesystem::path directory = ::testing::TempDir() + "lp_last_cut_" + (GetParam() ? "bytes" : "direct");
  std::filesystem::remove_all(directory);
  Runtime::Options options = runtime();
  options.run.directory = directory;
  {
    Server server(options, {.shard = {.rule = Sum{}, .consistency = Synchronous{.backups = 1}, .workers = 2},
                            .checkpoint_every = 1,
                            .last_step = 2});
    for (std::uint64_t clock = 0; clock < 4; ++clock) {
      Push push = push_of(clock, 0);
      push.stamp.version = clock;
      EXPECT_EQ(server.client().call<&ParameterServer::push>(push).outcome, PushOutcome::accepted);
    }
    for (const std::uint32_t worker : {0U, 1U}) server.client().call<&ParameterServer::leave>(worker, 0);
    server.run.wait_saved(2, 1);
  }
  const std::filesystem::path last = cut_directory(directory, 2);
  const auto steps = std::filesystem::directory_iterator(last.parent_path());
  EXPECT_EQ(std::distance(begin(steps), end(steps)), 2);
  std::filesystem::remove_all(directory);
}

// A worker that is behind at another server alone sends it, and waits for the reply.
TEST_P(ParameterServerTest, APushAfterTheLastStepIsAnsweredAtOnce) {
  Server server(runtime(),
                {.shard = {.rule = Sum{}, .consistency = Synchronous{.backups = 1, .steps = 1}, .workers = 2}});
  server.client().call<&ParameterServer::push>(push_of(0, 0));
  Push push = push_of(1, 1);
  push.stamp.version = 1;
  push.pull = true;
  for (int i = 0; i < 2; ++i) {
    const Reply reply = server.client().call<&ParameterServer::push>(push);
    EXPECT_EQ(reply.outcome, PushOutcome::dropped);
    EXPECT_EQ(reply.version, 1U);
  }
}

TEST_P(ParameterServerTest, AShardMayBeEmpty) {
  Program program("empty");
  const auto handle =
      program.group<ParameterServer>({.name = "server", .replicas = 2}, context,
                                     std::vector<Tensor>{{.partition = Partition::whole(4, 2, 0)}}, kThree, kNobody);
  LocalRun run(program, runtime());
  const Client<ParameterServer> empty = run.client(handle)[1];
  EXPECT_TRUE(empty.call<&ParameterServer::pull>(Pull{.shard = 1}).values.empty());
  std::vector<Future<Reply>> pushes;
  for (std::uint32_t worker = 0; worker < 3; ++worker) {
    Push push = push_of(0, worker, Array<float>());
    push.shard = 1;
    pushes.push_back(empty.async<&ParameterServer::push>(push));
  }
  EXPECT_EQ(when_all(std::move(pushes)).get().size(), 3);
  EXPECT_EQ(empty.call<&ParameterServer::position>(0, 1, 0).version, 1);
}

}  // namespace
}  // namespace lp
