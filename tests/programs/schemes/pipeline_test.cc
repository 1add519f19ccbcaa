// Layers on nodes: the gradient of a pipeline is that of one node, however the batch and the layers are split.
#include "programs/schemes/pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "lp/base/random.h"
#include "programs/models/serial.h"
#include "tests/programs/training_run.h"

namespace lp {
namespace {

using test::kSeed;
using test::TrainingRun;

const std::vector<Eigen::Index> kUnits{64, 24, 16, 10};

LearningTask deep_task(Activation activation = Activation::tanh) {
  return {.model = [activation] { return std::make_unique<Mlp>(kUnits, activation); },
          .data = [](std::uint64_t seed) { return split(digits(), seed).train; }};
}
ServerTraining pipeline_training(std::uint64_t steps, OptimizerRule rule = Sgd{.rate = 0.1F}) {
  return {.workers = 1, .steps = steps, .batch = 64, .rule = rule, .checkpoint_every = 0};
}
Eigen::VectorXf trained(TrainingRun& run) {
  run.finish();
  return run.workers()[0].call<&TrainingWorker::learned>().values;
}
std::vector<StageStatistics> stages_of(TrainingRun& run, int stages) {
  return run.run().client(GroupHandle<PipelineStage>("stage", stages)).all<&PipelineStage::statistics>();
}

TEST(MlpLayers, PartsGiveTheBitsOfTheWhole) {
  const Mlp whole(kUnits, Activation::tanh);
  const Dataset data = split(digits(), 1).test;
  const Eigen::VectorXf parameters = whole.initialize(1);
  Eigen::VectorXf expected;
  const double loss = whole.loss(parameters, data, expected);
  const MlpLayers first({64, 24}, Activation::tanh, true, false);
  const MlpLayers last({24, 16, 10}, Activation::tanh, false, true);
  const Eigen::VectorXf own = parameters.head(first.size());
  const Eigen::VectorXf others = parameters.tail(last.size());
  const auto below = first.forward(own, data.features);
  const auto above = last.forward(others, below.back());
  Eigen::MatrixXf delta = above.back();
  EXPECT_EQ(softmax_cross_entropy(delta, data.labels), loss);
  Eigen::VectorXf gradient;
  delta = last.backward(others, below.back(), above, delta, gradient);
  EXPECT_EQ(gradient, expected.tail(last.size()));
  EXPECT_EQ(first.backward(own, data.features, below, delta, gradient).size(), 0);
  EXPECT_EQ(gradient, expected.head(first.size()));
}

class PipelineOf : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Paths, PipelineOf, testing::Bool(),
                         [](const auto& one) { return one.param ? "Bytes" : "Direct"; });

TEST_P(PipelineOf, WithoutMicroBatchesHasTheBitsOfSerialTraining) {
  const Dataset data = deep_task().data(kSeed);
  for (const OptimizerRule& rule : {OptimizerRule(Sgd{.rate = 0.1F}), OptimizerRule(Adam{})}) {
    const Eigen::VectorXf serial =
        train_serial(*deep_task().model(), data, {.steps = 60, .batch = 64, .seed = kSeed, .rule = rule});
    for (const int stages : {1, 2, 3}) {
      TrainingRun run(
          [&](Program& p) {
            return add_pipeline_training(p, deep_task(), pipeline_training(60, rule),
                                         {.units = kUnits, .stages = stages, .micro_batches = 1});
          },
          GetParam());
      EXPECT_EQ(parameters_hash(trained(run)), parameters_hash(serial)) << stages << " stages";
    }
  }
}

TEST_P(PipelineOf, WithMicroBatchesHasTheGradientOfTheWholeBatchWithinRounding) {
  const Eigen::VectorXf serial = train_serial(*deep_task().model(), deep_task().data(kSeed),
                                              {.steps = 60, .batch = 64, .seed = kSeed, .rule = Sgd{.rate = 0.1F}});
  for (const std::uint32_t micro_batches : {2U, 5U, 100U}) {
    std::string hash;
    for (int again = 0; again < 2; ++again) {
      TrainingRun run(
          [&](Program& p) {
            return add_pipeline_training(p, deep_task(), pipeline_training(60),
                                         {.units = kUnits, .stages = 3, .micro_batches = micro_batches});
          },
          GetParam());
      const Eigen::VectorXf result = trained(run);
      EXPECT_LT((result - serial).norm() / serial.norm(), 1e-5);
      EXPECT_TRUE(hash.empty() || hash == parameters_hash(result));  // whatever the timing
      hash = parameters_hash(result);
      const auto stages = stages_of(run, 3);
      for (const StageStatistics& one : stages) {
        EXPECT_EQ(one.micro_batches, 60U * std::min(micro_batches, 64U));
        EXPECT_GT(one.seconds, one.idle_seconds);
      }
      // 24 and 16 activations of an example, and as many derivatives.
      EXPECT_EQ(stages[0].bytes_sent, 60U * 64 * 24 * sizeof(float));
      EXPECT_EQ(stages[1].bytes_sent, 60U * 64 * (24 + 16) * sizeof(float));
      EXPECT_GT(stages[0].most_in_flight, 1U);
      EXPECT_LE(stages[0].most_in_flight, micro_batches);
    }
  }
}

TEST_P(PipelineOf, ReachesTheAccuracyOfSerialTraining) {
  TrainingRun run(
      [](Program& p) {
        return add_pipeline_training(p, deep_task(), pipeline_training(1600), {.units = kUnits, .stages = 3});
      },
      GetParam());
  const double accuracy = evaluate(*deep_task().model(), trained(run), split(digits(), kSeed).test).accuracy;
  EXPECT_GE(accuracy, test::serial_accuracy(deep_task()) - 0.01);
}

TEST(PipelineFailures, WhatDoesNotFitIsRefused) {
  for (const Pipeline& wrong : {Pipeline{.units = kUnits, .stages = 4}, Pipeline{.units = kUnits, .stages = 0},
                                Pipeline{.units = kUnits, .micro_batches = 0}, Pipeline{}}) {
    Program program("training");
    EXPECT_THROW(add_pipeline_training(program, deep_task(), pipeline_training(1), wrong), Error);
  }
  Program program("training");
  add_pipeline_training(program, deep_task(), pipeline_training(0), {.units = kUnits, .stages = 3});
  LocalRun run(program);
  const auto stage = run.client(GroupHandle<PipelineStage>("stage", 3))[0];
  EXPECT_THROW(stage.call<&PipelineStage::pass>(MicroBatch{}), Error);
  const MicroBatch narrow{.inputs = Eigen::MatrixXf::Zero(63, 2), .labels = Eigen::VectorXi::Zero(2)};
  EXPECT_THROW(stage.call<&PipelineStage::pass>(narrow), Error);
  const MicroBatch label{.inputs = Eigen::MatrixXf::Zero(64, 1), .labels = Eigen::VectorXi::Constant(1, 10)};
  EXPECT_THROW(stage.call<&PipelineStage::pass>(label), Error);
  const MicroBatch number{.number = 4, .inputs = Eigen::MatrixXf::Zero(64, 1), .labels = Eigen::VectorXi::Zero(1)};
  EXPECT_THROW(stage.call<&PipelineStage::pass>(number), Error);
}

// A killed worker has updated some of the stages, and the next worker finds them a step ahead of the others.
TEST(PipelineFailures, AnUpdateThatItsWorkerDidNotEndIsEndedByTheNext) {
  constexpr std::uint32_t kExamples = 8;
  const auto parameters = [&](std::size_t told) {
    Program program("training");
    add_pipeline_training(program, deep_task(), pipeline_training(0), {.units = kUnits, .stages = 3});
    LocalRun run(program);
    run.wait_finished();
    const auto stages = run.client(GroupHandle<PipelineStage>("stage", 3));
    const Dataset data = deep_task().data(kSeed);
    stages[0].call<&PipelineStage::pass>(
        MicroBatch{.inputs = data.features.leftCols(kExamples), .labels = data.labels.head(kExamples)});
    for (std::size_t i = 0; i < told; ++i) stages[i].call<&PipelineStage::update>(0, kExamples);
    run.restart({"worker/0"});
    run.wait_finished();
    EXPECT_EQ(stages.all<&PipelineStage::steps>(), (std::vector<std::uint64_t>{1, 1, 1}));
    return stages.all<&PipelineStage::parameters>();
  };
  const auto expected = parameters(3);
  EXPECT_EQ(parameters(1), expected);
  EXPECT_EQ(parameters(2), expected);
}

TEST(PipelineFailures, AWorkerThatIsRestartedAfterItsEndGivesTheSameResult) {
  TrainingRun run([](Program& program) {
    return add_pipeline_training(program, deep_task(), pipeline_training(20), {.units = kUnits, .stages = 2});
  });
  const Eigen::VectorXf expected = trained(run);
  run.run().restart({"worker/0"});
  const auto learned = trained_parameters(run.servers(), run.workers(), expected.size());
  EXPECT_EQ(learned.values, expected);
  EXPECT_EQ(learned.step, 20U);
}

TEST(PipelineFailures, AGradientThatIsNotFiniteEndsIt) {
  LearningTask task = deep_task();
  task.data = [](std::uint64_t seed) {
    Dataset out = split(digits(), seed).train;
    out.features(3, 5) = std::numeric_limits<float>::quiet_NaN();
    return out;
  };
  Program program("training");
  add_pipeline_training(program, task, pipeline_training(200), {.units = kUnits, .stages = 2});
  LocalRun run(program);
  run.wait_finished();
  ASSERT_EQ(run.failed().size(), 1U);
  EXPECT_NE(std::string(run.failed().begin()->second.what()).find("is not finite"), std::string::npos);
}

}  // namespace
}  // namespace lp
