#include "nodes/parameter_server.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "lp/lp.h"
#include "lp/program/cut.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

constexpr std::size_t kSize = 1003;  // not a multiple of a vector

Array<float> gradient_of(std::uint64_t step, std::uint32_t worker) {
  Array<float> gradient(kSize);
  Random random(7, "gradient/" + std::to_string(worker), step);
  for (float& value : gradient.edit()) value = static_cast<float>(random.normal());
  return gradient;
}

// Whether calls go directly or through bytes.
class ParameterServerTest : public ::testing::TestWithParam<bool> {
 protected:
  struct Server {
    Program program{"server"};
    Handle<ParameterServer> handle;
    LocalRun run;

    Server(const Runtime::Options& options, const ParameterServerOptions& server)
        : handle(program.add<ParameterServer>({.name = "server"}, context, Array<float>(kSize), server)),
          run(program, options) {}
    Client<ParameterServer> client() { return run.client(handle); }
  };

  Runtime::Options runtime() const {
    Runtime::Options options;
    options.serialize = GetParam();
    return options;
  }
  Server serve(const ParameterServerOptions& options) const { return Server(runtime(), options); }

  static const ParameterServerOptions kThree;
};
const ParameterServerOptions ParameterServerTest::kThree{.rule = Momentum{.rate = 0.05F}, .workers = 3, .divisor = 10};
INSTANTIATE_TEST_SUITE_P(Paths, ParameterServerTest, ::testing::Values(false, true),
                         [](const auto& path) { return path.param ? "Bytes" : "Direct"; });

// The parameters after so many steps of three workers, in closed form.
Array<float> expected(std::uint64_t steps) {
  Optimizer optimizer{.rule = Momentum{.rate = 0.05F}};
  Array<float> parameters(kSize);
  for (std::uint64_t step = 0; step < steps; ++step) {
    Array<float> sum = gradient_of(step, 0);
    const std::span<float> mean = sum.edit();
    for (const std::uint32_t worker : {1U, 2U}) {
      const Array<float> gradient = gradient_of(step, worker);
      for (std::size_t i = 0; i < kSize; ++i) mean[i] += gradient[i];
    }
    for (float& value : mean) value /= 10;
    optimizer.apply(parameters.edit(), mean);
  }
  return parameters;
}

// One step, the workers' gradients in this order.
Array<float> train(const Client<ParameterServer>& client, std::uint64_t step, const std::vector<std::uint32_t>& order) {
  std::vector<Future<Array<float>>> pushes;
  pushes.reserve(order.size());
  for (const std::uint32_t worker : order) {
    pushes.push_back(client.async<&ParameterServer::push>(step, worker, gradient_of(step, worker)));
  }
  return when_all(std::move(pushes)).get().front();
}

template <class F>
Error error_of(F f) {
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
  EXPECT_EQ(server.client().call<&ParameterServer::step>(), orders.size());
}

TEST_P(ParameterServerTest, APushWaitsForAllAndHoldsNoTurn) {
  Server server = serve(kThree);
  auto first = server.client().async<&ParameterServer::push>(0, 2, gradient_of(0, 2));
  auto second = server.client().async<&ParameterServer::push>(0, 0, gradient_of(0, 0));
  auto later = server.client().async<&ParameterServer::pull>(1);
  EXPECT_EQ(server.client().call<&ParameterServer::step>(), 0);
  EXPECT_FALSE(first.ready() || second.ready() || later.ready());
  EXPECT_EQ(server.client().call<&ParameterServer::push>(0, 1, gradient_of(0, 1)), expected(1));
  EXPECT_EQ(first.get(), expected(1));
  EXPECT_EQ(second.get(), expected(1));
  EXPECT_EQ(later.get(), expected(1));
}

TEST_P(ParameterServerTest, ARepeatedPushCountsOnce) {
  Server server = serve(kThree);
  auto first = server.client().async<&ParameterServer::push>(0, 0, gradient_of(0, 0));
  auto again = server.client().async<&ParameterServer::push>(0, 0, gradient_of(5, 0));  // replaces nothing
  auto other = server.client().async<&ParameterServer::push>(0, 1, gradient_of(0, 1));
  EXPECT_EQ(server.client().call<&ParameterServer::step>(), 0);
  EXPECT_EQ(server.client().call<&ParameterServer::push>(0, 2, gradient_of(0, 2)), expected(1));
  EXPECT_EQ(first.get(), expected(1));
  EXPECT_EQ(again.get(), expected(1));
  // What is applied already is answered again.
  EXPECT_EQ(server.client().call<&ParameterServer::push>(0, 1, gradient_of(0, 1)), expected(1));
  EXPECT_EQ(server.client().call<&ParameterServer::step>(), 1);
}

TEST_P(ParameterServerTest, KeepsTheVersionBefore) {
  Server server = serve(kThree);
  train(server.client(), 0, {0, 1, 2});
  train(server.client(), 1, {0, 1, 2});
  EXPECT_EQ(server.client().call<&ParameterServer::pull>(1), expected(1));
  EXPECT_EQ(server.client().call<&ParameterServer::pull>(2), expected(2));
  const ParameterVersions versions = server.client().call<&ParameterServer::versions>();
  EXPECT_EQ(versions.step, 2);
  EXPECT_EQ(versions.newest, expected(2));
  EXPECT_EQ(versions.previous, expected(1));
  EXPECT_EQ(error_of([&] { server.client().call<&ParameterServer::pull>(0); }).kind(), ErrorKind::disconnected);
}

TEST_P(ParameterServerTest, RefusesAPushOfAnotherStep) {
  Server server = serve(kThree);
  train(server.client(), 0, {0, 1, 2});
  train(server.client(), 1, {0, 1, 2});
  for (const std::uint64_t step : {std::uint64_t{0}, std::uint64_t{3}, std::numeric_limits<std::uint64_t>::max()}) {
    const Error error = error_of([&] { server.client().call<&ParameterServer::push>(step, 0, gradient_of(step, 0)); });
    EXPECT_EQ(error.kind(), ErrorKind::disconnected) << error.what();
    EXPECT_NE(error.text().find("server at step 2"), std::string::npos) << error.what();
  }
  EXPECT_EQ(train(server.client(), 2, {2, 1, 0}), expected(3));
}

TEST_P(ParameterServerTest, RefusesABadGradientAndNamesItsWorker) {
  Server server = serve(kThree);
  const auto refused = [&](std::uint32_t worker, Array<float> gradient) {
    const Error error = error_of([&] { server.client().call<&ParameterServer::push>(0, worker, gradient); });
    EXPECT_EQ(error.kind(), ErrorKind::failed) << error.what();
    EXPECT_NE(error.text().find("worker " + std::to_string(worker)), std::string::npos) << error.what();
    return error.text();
  };
  refused(1, Array<float>(kSize - 1));
  refused(1, Array<float>());
  refused(3, gradient_of(0, 1));
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Array<float> gradient = gradient_of(0, 1);
    gradient.edit()[kSize - 1] = bad;
    const std::string text = refused(1, gradient);
    EXPECT_NE(text.find("element 1002"), std::string::npos) << text;
  }
  EXPECT_EQ(train(server.client(), 0, {1, 0, 2}), expected(1));
}

TEST_P(ParameterServerTest, GoesOnFromACut) {
  const std::filesystem::path directory =
      ::testing::TempDir() + "lp_parameter_server_" + (GetParam() ? "bytes" : "direct");
  std::filesystem::remove_all(directory);
  Runtime::Options options = runtime();
  options.directory = directory;
  ParameterServerOptions three = kThree;
  three.cut_every = 2;
  {
    Server server(options, three);
    for (std::uint64_t step = 0; step < 5; ++step) train(server.client(), step, {0, 1, 2});
    server.run.wait_saved(4, 1);
    // A push that waits meets the server at the cut.
    auto waits = server.client().async<&ParameterServer::push>(5, 0, gradient_of(5, 0));
    server.run.restart({"server"}, cut_directory(directory, 4));
    EXPECT_EQ(error_of([&] { waits.get(); }).kind(), ErrorKind::disconnected);
    const ParameterVersions versions = server.client().call<&ParameterServer::versions>();
    EXPECT_EQ(versions.step, 4);
    EXPECT_EQ(versions.newest, expected(4));
    EXPECT_TRUE(versions.previous.empty());
    EXPECT_EQ(train(server.client(), 4, {2, 1, 0}), expected(5));
  }
  const auto refused = [&](const ParameterServerOptions& server_options, std::uint64_t seed) {
    options.seed = seed;
    Server server(options, server_options);
    server.run.restart({"server"}, cut_directory(directory, 4));
    const auto failed = server.run.failed();
    return failed.count("server") == 0 ? std::string() : failed.at("server").text();
  };
  ParameterServerOptions other = three;
  other.rule = Sgd{};
  EXPECT_NE(refused(other, 0).find("resume with the model, servers and optimizer"), std::string::npos);
  EXPECT_NE(refused(three, 1).find("seed 0"), std::string::npos);
  EXPECT_EQ(refused(three, 0), "");
  std::filesystem::remove_all(directory);
}

TEST_P(ParameterServerTest, AShardMayBeEmpty) {
  Program program("empty");
  const auto handle = program.add<ParameterServer>({.name = "server"}, context, Array<float>(), kThree);
  LocalRun run(program, runtime());
  EXPECT_TRUE(run.client(handle).call<&ParameterServer::pull>(0).empty());
  std::vector<Future<Array<float>>> pushes;
  for (std::uint32_t worker = 0; worker < 3; ++worker) {
    pushes.push_back(run.client(handle).async<&ParameterServer::push>(0, worker, Array<float>()));
  }
  EXPECT_EQ(when_all(std::move(pushes)).get().size(), 3);
  EXPECT_EQ(run.client(handle).call<&ParameterServer::step>(), 1);
}

}  // namespace
}  // namespace lp
