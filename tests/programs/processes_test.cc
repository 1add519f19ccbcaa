// The guarantees of schemes for their sums hold with workers in processes as with workers in threads: nothing is lost
// between them, and each gradient counts with its right weight.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "launchers/run.h"
#include "lp/base/random.h"
#include "nodes/collective/gossip_member.h"
#include "nodes/shared_vector.h"
#include "programs/schemes/gossip.h"
#include "programs/schemes/hogwild.h"
#include "programs/schemes/softsync.h"
#include "programs/training/worker.h"
#include "tests/launchers/tools_for_test.h"
#include "tests/programs/programs_for_test.h"

namespace lp::test {
namespace {

constexpr Eigen::Index kParameters = 96;
constexpr int kHogwildSteps = 40'000;  // enough steps that all workers are at work at the same time

// Every element of an example's gradient is 1. So a step by the mean over a batch, at a rate of 1, subtracts 1 from
// every parameter, without rounding; the parameters begin with 0.
class Counting : public Model {
 public:
  Eigen::Index size() const override { return kParameters; }
  Eigen::VectorXf initialize(std::uint64_t) const override { return Eigen::VectorXf::Zero(kParameters); }
  Eigen::MatrixXf scores(const Eigen::VectorXf&, const Eigen::MatrixXf&) const override { return {}; }
  double loss(const Eigen::VectorXf&, const Dataset& batch, Eigen::VectorXf& gradient) const override {
    gradient.setConstant(kParameters, static_cast<float>(batch.examples()));
    return 0;
  }
};

Eigen::VectorXf parameters_of(int pid) {
  Random random(static_cast<std::uint64_t>(pid), "parameters");
  return Eigen::VectorXf::NullaryExpr(kParameters, [&] { return static_cast<float>(random.normal()); });
}

// The parameters begin with other values in every process.
class OfItsProcess final : public Counting {
 public:
  Eigen::VectorXf initialize(std::uint64_t) const override { return parameters_of(getpid()); }
};

Eigen::Map<const Eigen::VectorXf> vector_of(const Array<float>& values) {
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}

// `look` is called when all workers are done.
void train(LaunchType launch, const Config& config, const std::function<void(lp::Run&)>& look) {
  LaunchOptions options = processes(config, "training");
  options.launch = launch;
  options.report = look;
  lp::Run run(make_training(config), options);
  EXPECT_TRUE(run.wait().success) << run.wait().cause.text();
}

class InEachLaunch : public testing::TestWithParam<LaunchType> {};
INSTANTIATE_TEST_SUITE_P(Launches, InEachLaunch, testing::Values(LaunchType::threads, LaunchType::processes),
                         [](const auto& one) { return one.param == LaunchType::threads ? "Threads" : "Processes"; });

// A gradient of staleness s subtracts 1 / max(s, 1) of its share of an update, which is one of ⌊workers / splits⌋.
TEST_P(InEachLaunch, SoftsyncDividesEachGradientByItsStaleness) {
  double saved = 0;  // the sum that staleness takes away
  for (const int splits : {kWorkers, kWorkers / 2}) {
    train(GetParam(), {.scheme = "softsync", .splits = splits}, [&](lp::Run& run) {
      const auto server = run.client(GroupHandle<ParameterServer>("server", 1));
      const ShardStatistics statistics = server[0].call<&ParameterServer::statistics>().shards;
      const auto gradients = static_cast<std::size_t>(kWorkers / splits);  // gradients in an update
      EXPECT_EQ(statistics.applied, std::uint64_t{kSteps});
      EXPECT_EQ(statistics.updates, kSteps / gradients);
      // The last entry counts all older gradients, too.
      const std::vector<std::uint64_t>& staleness = statistics.staleness;
      double expected = 0;
      for (std::size_t s = 0; s + 1 < staleness.size(); ++s) {
        expected -= static_cast<double>(staleness[s]) / static_cast<double>(std::max<std::size_t>(s, 1) * gradients);
      }
      const double rounding =
          1e-5 * kSteps + static_cast<double>(staleness.back()) / static_cast<double>(63 * gradients);
      saved += kSteps / static_cast<double>(gradients) + expected;
      const Eigen::VectorXf parameters = all_parameters(server, kParameters).values;
      EXPECT_NEAR(parameters.minCoeff(), expected, rounding);
      EXPECT_NEAR(parameters.maxCoeff(), expected, rounding);
    });
  }
  EXPECT_GT(saved, 1) << "no gradient was stale, so that nothing was seen";
}

// Without learning, the workers' values only move between them. (For threads see gossip_test.cc.)
TEST(Processes, KeepTheSumsOfGossipsWeightsAndOfItsWeightedModels) {
  train(LaunchType::processes, {.scheme = "gossip"}, [](lp::Run& run) {
    Eigen::VectorXf expected = Eigen::VectorXf::Zero(kParameters);
    for (const NodeStatus& node : run.status().nodes) {
      if (node.name.starts_with("worker/")) expected += parameters_of(node.pid);
    }
    double weights = 0;
    Eigen::VectorXf sum = Eigen::VectorXf::Zero(kParameters);
    for (const auto& one : run.client(GroupHandle<GossipMember>("gossip", kWorkers)).all<&GossipMember::held>()) {
      weights += one.weight;
      sum += static_cast<float>(one.weight) * vector_of(one.values);
    }
    EXPECT_NEAR(weights, kWorkers, 1e-9);
    EXPECT_LT((sum - expected).norm() / expected.norm(), 1e-5);
    for (const auto& one :
         run.client(GroupHandle<TrainingWorker>("worker", kWorkers)).all<&TrainingWorker::statistics>()) {
      EXPECT_GT(one.bytes_sent, kSteps / kWorkers / 4 * kParameters * sizeof(float));
    }
  });
}

TEST_P(InEachLaunch, HogwildLosesNoUpdate) {
  train(GetParam(), {.scheme = "hogwild"}, [](lp::Run& run) {
    const auto vector = run.client(Handle<SharedVector>("vector"));
    const Array<float> values = vector.call<&SharedVector::values>();
    for (const float value : values) EXPECT_EQ(value, -kHogwildSteps);
    const SharedVectorView view(vector.call<&SharedVector::location>());
    for (std::uint32_t worker = 0; worker < kWorkers; ++worker) {
      EXPECT_EQ(view.progress(worker), std::uint64_t{kHogwildSteps / kWorkers});
    }
  });
}

}  // namespace

Program make_training(const Config& config) {
  LearningTask task{.model = [] { return std::make_unique<Counting>(); },
                    .data = [](std::uint64_t) { return digits(); }};
  ServerTraining training{
      .workers = kWorkers, .steps = kSteps, .batch = 16, .rule = Sgd{.rate = 1}, .checkpoint_every = 0};
  Program program("training");
  if (config.scheme == "gossip") {
    task.model = [] { return std::make_unique<OfItsProcess>(); };
    training.rule = Sgd{.rate = 0};
    add_gossip_training(program, task, training, 0.5);
  } else if (config.scheme == "hogwild") {
    training.steps = kHogwildSteps;
    add_hogwild_training(program, task, training);
  } else {
    add_softsync_training(program, task, training, static_cast<std::uint32_t>(config.splits));
  }
  return program;
}

const Programs& programs() {
  static const Programs all = Programs()
                                  .add<Config>("training", make_training)
                                  .add<Config>("feeding", make_feeding)
                                  .add<ServingConfig>("serving", make_serving)
                                  .add<ReplayConfig>("replay", make_replay);
  return all;
}

}  // namespace lp::test
