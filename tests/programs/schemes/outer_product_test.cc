// Project Adam's exchange: servers compute the gradients of fully connected layers, from the number of bytes in the
// formula.
#include "programs/schemes/outer_product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/programs/training_run.h"

namespace lp {
namespace {

using test::digits_task;
using test::kSeed;
using test::training_of;
using test::TrainingRun;

const std::vector<Eigen::Index> kLayers{64, 24, 10};
constexpr double kEpoch = 1437.0 / 64;  // batches

TrainingRun::Add in_products(const ServerTraining& training, const OuterProducts& products) {
  return [=](Program& program) { return add_outer_product_training(program, digits_task(), training, products); };
}
std::uint64_t steps_of(TrainingRun& run, std::uint64_t WorkerStatistics::*what) {
  std::uint64_t out = 0;
  for (const auto& one : run.workers().all<&TrainingWorker::statistics>()) out += one.*what;
  return out;
}

TEST(MlpFactors, MultiplyToTheGradient) {
  const std::vector<Eigen::Index> units{64, 16, 12, 10};
  const Mlp mlp(units, Activation::tanh);
  const Dataset data = split(digits(), kSeed).test;
  const Eigen::VectorXf parameters = mlp.initialize(kSeed);
  Eigen::VectorXf gradient;
  Eigen::VectorXf factors;
  EXPECT_EQ(mlp.loss_in_factors(parameters, data, factors), mlp.loss(parameters, data, gradient));
  Eigen::VectorXf products(mlp.size());
  Eigen::Index from = 0;
  Eigen::Index to = 0;
  for (std::size_t i = 0; i + 1 < units.size(); ++i) {
    const Eigen::Index size = data.examples() * (units[i] + units[i + 1]);
    const Array<float> part =
        decode(outer_product(Array<float>::copy_of({factors.data() + from, static_cast<std::size_t>(size)}),
                             static_cast<std::uint32_t>(units[i + 1]), static_cast<std::uint32_t>(units[i])));
    for (const float value : part) products(to++) = value;
    from += size;
  }
  EXPECT_EQ(from, factors.size());
  ASSERT_EQ(to, products.size());
  EXPECT_LT((products - gradient).norm() / gradient.norm(), 1e-5);
}

class OuterProduct : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Paths, OuterProduct, testing::Bool(),
                         [](const auto& one) { return one.param ? "Bytes" : "Direct"; });

TEST_P(OuterProduct, OfOneWorkerIsSerialAndSendsActivationsAndErrors) {
  const Eigen::VectorXf serial = train_serial(*digits_task().model(), digits_task().data(kSeed),
                                              {.steps = 60, .batch = 64, .seed = kSeed, .rule = Sgd{.rate = 0.1F}});
  for (const int servers : {1, 2, 3}) {
    TrainingRun run(in_products(training_of(1, 60, 0.1F, servers), {.units = kLayers, .epoch_share = 1}), GetParam());
    const Eigen::VectorXf result = run.result().values;
    EXPECT_LT((result - serial).norm() / serial.norm(), 1e-5);
    EXPECT_EQ(steps_of(run, &WorkerStatistics::bytes_sent), 60U * 64 * ((64 + 24) + (24 + 10)) * sizeof(float));
  }
}

TEST_P(OuterProduct, AnEpochEndsWhenItsShareIsDone) {
  TrainingRun run(in_products(training_of(1, 90), {.units = kLayers}), GetParam());
  run.finish();
  const auto share = static_cast<std::uint64_t>(std::ceil(0.75 * kEpoch));
  EXPECT_EQ(steps_of(run, &WorkerStatistics::steps), 4 * share);  // 90 batches are four epochs
}

// Whichever worker is slow: all workers together do about three quarters of 240 batches.
TEST_P(OuterProduct, AnEpochOfSeveralWorkersEndsForAllOfThem) {
  TrainingRun run(in_products(training_of(4, 240, 0.1F, 2), {.units = kLayers}), GetParam());
  run.finish();
  EXPECT_LE(steps_of(run, &WorkerStatistics::steps), 200U);
  EXPECT_GE(steps_of(run, &WorkerStatistics::steps), 120U);
}

TEST(OuterProductFailures, WhatDoesNotFitIsRefused) {
  for (const OuterProducts& wrong :
       {OuterProducts{}, OuterProducts{.units = {64}}, OuterProducts{.units = kLayers, .epoch_share = 0},
        OuterProducts{.units = kLayers, .epoch_share = std::numeric_limits<double>::quiet_NaN()}}) {
    Program program("training");
    EXPECT_THROW(add_outer_product_training(program, digits_task(), training_of(2, 10), wrong), Error);
  }
  Program program("training");
  ServerTraining compressed = training_of(2, 10);
  compressed.compression.kind = Compression::top_k;
  EXPECT_THROW(add_outer_product_training(program, digits_task(), compressed, {.units = kLayers}), Error);
}

}  // namespace
}  // namespace lp
