#include "lp/kernels/layers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "lp/kernels/cross_entropy.h"
#include "tests/lp/kernels/grids.h"

namespace lp::kernels {
namespace {

constexpr std::size_t kOutputs = 7;

TEST(Layers, AddBiasesAndApplyTheActivation) {
  for (const Grid grid : test::kGrids) {
    for (const std::size_t examples : {0U, 1U, 37U}) {
      const std::vector<float> biases = test::normal_values(kOutputs, 1);
      const std::vector<float> sums = test::normal_values(kOutputs * examples, 2);
      std::vector<float> identity = sums;
      std::vector<float> relu = sums;
      std::vector<float> tanh = sums;
      run_grid(Activate<Identity>{biases.data(), kOutputs, identity.data(), examples}, grid);
      run_grid(Activate<Relu>{biases.data(), kOutputs, relu.data(), examples}, grid);
      run_grid(Activate<Tanh>{biases.data(), kOutputs, tanh.data(), examples}, grid);
      for (std::size_t i = 0; i < sums.size(); ++i) {
        const float sum = sums[i] + biases[i % kOutputs];
        EXPECT_EQ(identity[i], sum);
        EXPECT_EQ(relu[i], std::max(sum, 0.0F));
        EXPECT_EQ(tanh[i], std::tanh(sum));
      }
    }
  }
}

// By differences of the activation.
TEST(Layers, TheSlopeIsTheDerivativeOfTheActivation) {
  constexpr float kStep = 1e-3F;
  for (const float sum : {-2.0F, -0.5F, 0.25F, 1.5F}) {
    EXPECT_NEAR(Relu().slope(Relu().value(sum)), (Relu().value(sum + kStep) - Relu().value(sum)) / kStep, 1e-3);
    EXPECT_NEAR(Tanh().slope(Tanh().value(sum)), (Tanh().value(sum + kStep) - Tanh().value(sum)) / kStep, 1e-3);
  }
  std::vector<float> errors{2, 3, 4};
  run_grid(MultiplyBySlope<Relu>{std::vector<float>{1, 0, 5}.data(), errors.data(), 3}, {.blocks = 2, .threads = 1});
  EXPECT_EQ(errors, (std::vector<float>{2, 0, 4}));
}

TEST(Layers, ErrorsOfAnyNumberAreMultipliedByTheirSlopes) {
  for (const Grid grid : test::kGrids) {
    for (const std::size_t size : test::kSizes) {
      const std::vector<float> values = test::normal_values(size, 1);
      const std::vector<float> errors = test::normal_values(size, 2);
      std::vector<float> relu = errors;
      std::vector<float> tanh = errors;
      run_grid(MultiplyBySlope<Relu>{values.data(), relu.data(), size}, grid);
      run_grid(MultiplyBySlope<Tanh>{values.data(), tanh.data(), size}, grid);
      for (std::size_t i = 0; i < size; ++i) {
        EXPECT_EQ(relu[i], values[i] > 0 ? errors[i] : 0.0F * errors[i]);
        EXPECT_EQ(tanh[i], errors[i] * (1 - values[i] * values[i]));
      }
    }
  }
}

TEST(CrossEntropy, OfAnExampleIsTheSameInEveryBatch) {
  constexpr std::int64_t kClasses = 5;
  for (const Grid grid : test::kGrids) {
    for (const std::size_t examples : test::kSizes) {
      std::vector<float> scores = test::normal_values(examples * kClasses);
      std::vector<float> alone = scores;
      std::vector<std::int32_t> labels(examples);
      for (std::size_t i = 0; i < examples; ++i) labels[i] = static_cast<std::int32_t>(i % kClasses);
      std::vector<double> losses(examples);
      run_grid(CrossEntropy{scores.data(), labels.data(), kClasses, examples, losses.data()}, grid);
      for (std::size_t i = 0; i < examples; ++i) {
        EXPECT_EQ(losses[i], cross_entropy(alone.data() + i * kClasses, kClasses, labels[i]));
      }
      EXPECT_EQ(scores, alone);
    }
  }
}

// With two classes whose scores are 0 and s, the loss of class 1 is log(1 + exp(-s)).
TEST(CrossEntropy, IsThatOfItsDefinition) {
  const std::vector<float> scores{-3, 0.5F, 80};
  const std::vector<std::int32_t> labels{1, 0, 0};
  for (const Grid grid : test::kGrids) {
    std::vector<float> logistic = scores;
    std::vector<float> both{0, -3, 0, 0.5F, 0, 80};
    std::vector<double> losses(3);
    std::vector<double> losses_of_both(3);
    run_grid(LogisticCrossEntropy{logistic.data(), labels.data(), 3, losses.data()}, grid);
    run_grid(CrossEntropy{both.data(), labels.data(), 2, 3, losses_of_both.data()}, grid);
    EXPECT_EQ(losses, losses_of_both);
    for (std::size_t i = 0; i < 3; ++i) {
      const double s = scores[i];
      EXPECT_NEAR(losses[i], labels[i] == 1 ? std::log1p(std::exp(-s)) : std::log1p(std::exp(s)), 1e-6);
      EXPECT_NEAR(logistic[i], 1 / (1 + std::exp(-s)) - labels[i], 1e-6);
      EXPECT_EQ(logistic[i], both[2 * i + 1]);
      EXPECT_NEAR(both[2 * i], -both[2 * i + 1], 1e-6);
    }
  }
}

}  // namespace
}  // namespace lp::kernels
