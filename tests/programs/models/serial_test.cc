#include "programs/models/serial.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <span>

#include "lp/base/error.h"
#include "programs/data/batches.h"
#include "programs/models/mlp.h"
#include "programs/training/evaluation.h"

namespace lp {
namespace {

const Training kTraining{.steps = 500, .batch = 64, .seed = 1, .rule = Momentum{.rate = 0.05F}};

TEST(TrainSerial, TheMlpLearnsTheDigits) {
  const Mlp model({64, 256, 10}, Activation::tanh);
  double mean = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    Training training = kTraining;
    training.seed = seed;
    const Split data = split(digits(), seed);
    const Evaluation result = evaluate(model, train_serial(model, data.train, training), data.test);
    EXPECT_GE(result.accuracy, 0.96) << "seed " << seed;
    mean += result.accuracy / 5;
  }
  EXPECT_GE(mean, 0.975);
}

TEST(TrainSerial, SoftmaxRegressionLearnsTheDigits) {
  const Split data = split(digits(), kTraining.seed);
  const Mlp model({64, 10});
  EXPECT_GE(evaluate(model, train_serial(model, data.train, kTraining), data.test).accuracy, 0.93);
}

TEST(TrainSerial, RepeatsItsBits) {
  const Split data = split(digits(), kTraining.seed);
  const Mlp model({64, 32, 10});
  EXPECT_EQ(parameters_hash(train_serial(model, data.train, kTraining)),
            parameters_hash(train_serial(model, data.train, kTraining)));
}

// The common part of all synchronous schemes: sum the shards in worker order, divide once, apply once. Rounding
// differs, and must not grow.
TEST(TrainSerial, ShardedSumsStayWithinRounding) {
  const Mlp model({64, 256, 10}, Activation::tanh);
  const auto size = static_cast<std::size_t>(model.size());
  const Dataset data = split(digits(), kTraining.seed).train;
  const Eigen::VectorXf serial = train_serial(model, data, kTraining);
  for (const std::uint32_t workers : {1U, 2U, 4U, 7U}) {
    Batches batches(static_cast<std::uint32_t>(data.examples()), kTraining.batch, kTraining.seed);
    Optimizer optimizer{.rule = kTraining.rule};
    Eigen::VectorXf parameters = model.initialize(kTraining.seed);
    Eigen::VectorXf gradient;
    for (std::uint64_t step = 0; step < kTraining.steps; ++step) {
      Eigen::VectorXf sum = Eigen::VectorXf::Zero(model.size());
      for (std::uint32_t worker = 0; worker < workers; ++worker) {
        model.loss(parameters, gather(data, batches.shard(step, worker, workers)), gradient);
        sum += gradient;
      }
      sum /= static_cast<float>(kTraining.batch);
      optimizer.apply(std::span(parameters.data(), size), std::span(sum.data(), size));
    }
    EXPECT_LE((parameters - serial).norm(), 1e-6 * serial.norm()) << workers << " workers";
  }
}

TEST(TrainSerial, SaysWhenTheLossDiverges) {
  const Mlp model({64, 10});
  Training training = kTraining;
  training.rule = Sgd{.rate = 1e38F};
  EXPECT_THROW(train_serial(model, digits(), training), Error);
}

TEST(Evaluate, CountsGuessesByClass) {
  // Scores are the features themselves: weights are the identity.
  const Mlp model({3, 3});
  Eigen::VectorXf parameters(12);
  parameters << 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0;
  Dataset data{Eigen::MatrixXf(3, 4), Eigen::VectorXi(4), 3};
  data.features << 5, 0, 0, 5,  //
      0, 5, 5, 0,               //
      0, 0, 0, 0;
  data.labels << 0, 1, 0, 0;
  const Evaluation result = evaluate(model, parameters, data);
  EXPECT_EQ(result.accuracy, 0.75);
  Eigen::Matrix3i confusion;
  confusion << 2, 1, 0, 0, 1, 0, 0, 0, 0;
  EXPECT_EQ(result.confusion, confusion);
  EXPECT_EQ(confusion_table(result.confusion),
            "class | predicted  0    1    2 | right\n"
            "    0 |          2    1    . |   67%\n"
            "    1 |          .    1    . |  100%\n"
            "    2 |          .    .    . |     -\n");
  EXPECT_EQ(confusion_table(Eigen::MatrixXi::Identity(2, 2), {"cat", "dog"}),
            "class | predicted  0    1 | right\n"
            "    0 |          1    . |  100%  cat\n"
            "    1 |          .    1 |  100%  dog\n");
  EXPECT_THROW(evaluate(model, parameters, Dataset{Eigen::MatrixXf(3, 0), Eigen::VectorXi(0), 3}), Error);
}

}  // namespace
}  // namespace lp
