#include "programs/models/model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/random.h"
#include "programs/models/mlp.h"

namespace lp {
namespace {

using Layers = std::vector<Eigen::Index>;

Dataset random_data(Eigen::Index inputs, Eigen::Index examples, int classes) {
  Random random(1, "data");
  Dataset out{Eigen::MatrixXf(inputs, examples), Eigen::VectorXi(examples), classes};
  for (float& x : out.features.reshaped()) x = static_cast<float>(random.normal());
  for (int& label : out.labels) label = static_cast<int>(random.below(static_cast<std::uint64_t>(classes)));
  return out;
}

Eigen::VectorXf random_parameters(Eigen::Index size) {
  Random random(2, "parameters");
  Eigen::VectorXf out(size);
  for (float& x : out) x = static_cast<float>(0.5 * random.normal());
  return out;
}

// The summed loss as the definition says, one example and one unit after the other, in double.
double plain_loss(const Layers& layers, Activation activation, const Eigen::VectorXd& parameters, const Dataset& data) {
  double loss = 0;
  for (Eigen::Index example = 0; example < data.examples(); ++example) {
    std::vector<double> values;
    for (Eigen::Index i = 0; i < data.inputs(); ++i) values.push_back(data.features(i, example));
    Eigen::Index at = 0;
    for (std::size_t layer = 1; layer < layers.size(); ++layer) {
      const Eigen::Index inputs = layers[layer - 1];
      const Eigen::Index outputs = layers[layer];
      std::vector<double> sums;
      for (Eigen::Index o = 0; o < outputs; ++o) {
        double sum = parameters(at + inputs * outputs + o);
        for (Eigen::Index i = 0; i < inputs; ++i) {
          sum += parameters(at + i * outputs + o) * values[static_cast<std::size_t>(i)];
        }
        if (layer + 1 < layers.size()) sum = activation == Activation::tanh ? std::tanh(sum) : std::max(sum, 0.0);
        sums.push_back(sum);
      }
      values = sums;
      at += inputs * outputs + outputs;
    }
    double total = 0;
    for (const double score : values) total += std::exp(score);
    loss -= std::log(std::exp(values[static_cast<std::size_t>(data.labels(example))]) / total);
  }
  return loss;
}

struct Shape {
  Layers layers;
  Activation activation;
};

class EveryMlp : public testing::TestWithParam<Shape> {};

TEST_P(EveryMlp, LossAndGradientAgreeWithFiniteDifferencesInDouble) {
  const auto& [layers, activation] = GetParam();
  const Mlp model(layers, activation);
  const Dataset data = random_data(layers.front(), 9, static_cast<int>(layers.back()));
  const Eigen::VectorXf parameters = random_parameters(model.size());
  const Eigen::VectorXd exact = parameters.cast<double>();
  Eigen::VectorXf gradient;
  EXPECT_NEAR(model.loss(parameters, data, gradient), plain_loss(layers, activation, exact, data), 1e-4);
  ASSERT_EQ(gradient.size(), model.size());
  for (Eigen::Index i = 0; i < model.size(); ++i) {
    constexpr double kStep = 1e-6;
    Eigen::VectorXd up = exact;
    Eigen::VectorXd down = exact;
    up(i) += kStep;
    down(i) -= kStep;
    const double slope =
        (plain_loss(layers, activation, up, data) - plain_loss(layers, activation, down, data)) / (2 * kStep);
    EXPECT_NEAR(gradient(i), slope, 2e-5 * (1 + std::abs(slope))) << "parameter " << i;
  }
}

TEST_P(EveryMlp, ShardsAddUpToTheBatch) {
  const auto& [layers, activation] = GetParam();
  const Mlp model(layers, activation);
  const Dataset data = random_data(layers.front(), 9, static_cast<int>(layers.back()));
  const Eigen::VectorXf parameters = random_parameters(model.size());
  Eigen::VectorXf whole;
  const double loss = model.loss(parameters, data, whole);
  std::vector<std::uint32_t> all(9);
  std::iota(all.begin(), all.end(), 0U);
  Eigen::VectorXf sum = Eigen::VectorXf::Zero(model.size());
  double shard_loss = 0;
  for (const auto& [first, last] : {std::pair{0, 1}, {1, 1}, {1, 6}, {6, 9}}) {  // one example, none, five, three
    const Dataset shard =
        gather(data, std::span(all).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first)));
    Eigen::VectorXf gradient;
    shard_loss += model.loss(parameters, shard, gradient);
    sum += gradient;
  }
  EXPECT_NEAR(shard_loss, loss, 1e-5);
  EXPECT_LE((sum - whole).norm(), 1e-6 * whole.norm());
}

// Every allocation between two evaluations moves what comes after it.
TEST_P(EveryMlp, BitsDoNotDependOnWhereTheNumbersLie) {
  const auto& [layers, activation] = GetParam();
  const Mlp model(layers, activation);
  const Dataset data = random_data(layers.front(), 9, static_cast<int>(layers.back()));
  const Eigen::VectorXf parameters = random_parameters(model.size());
  Eigen::VectorXf expected;
  const double loss = model.loss(parameters, data, expected);
  std::vector<std::unique_ptr<char[]>> padding;
  for (std::size_t size = 1; size < 200; ++size) {
    padding.push_back(std::make_unique<char[]>(size));
    const Eigen::VectorXf moved_parameters = parameters;
    const Dataset moved = data;
    Eigen::VectorXf gradient;
    ASSERT_EQ(model.loss(moved_parameters, moved, gradient), loss);
    ASSERT_EQ(gradient, expected);
    ASSERT_EQ(model.scores(moved_parameters, moved.features), model.scores(parameters, data.features));
  }
}

INSTANTIATE_TEST_SUITE_P(Mlp, EveryMlp,
                         testing::Values(Shape{{5, 3}, Activation::relu},  // softmax regression
                                         Shape{{5, 7, 3}, Activation::relu}, Shape{{5, 7, 3}, Activation::tanh},
                                         Shape{{5, 7, 6, 4, 2}, Activation::relu},
                                         Shape{{20, 33, 10}, Activation::tanh}, Shape{{1, 1, 1}, Activation::tanh}));

TEST(Mlp, OfTwoLayersOf200UnitsForMnistHasTheParametersOfThePaper) {
  EXPECT_EQ(Mlp({784, 200, 200, 10}, Activation::relu).size(), 199'210);  // McMahan et al., 2017, section 3
}

TEST(Mlp, InitializesByItsSeed) {
  const Mlp model({200, 300, 10});
  EXPECT_EQ(model.size(), 200 * 300 + 300 + 300 * 10 + 10);
  const Eigen::VectorXf parameters = model.initialize(3);
  EXPECT_EQ(parameters, model.initialize(3));
  EXPECT_NE(parameters, model.initialize(4));
  EXPECT_NEAR(parameters.head(60'000).squaredNorm() / 60'000, 2.0 / 200, 2e-4);
  EXPECT_EQ(parameters.segment(60'000, 300), Eigen::VectorXf::Zero(300));
  EXPECT_NEAR(parameters.segment(60'300, 3'000).squaredNorm() / 3'000, 1.0 / 300, 3e-4);
}

TEST(Mlp, RefusesWhatDoesNotFit) {
  EXPECT_THROW(Mlp({5}), Error);
  EXPECT_THROW(Mlp({5, 0, 3}), Error);
  const Mlp model({5, 3});
  Dataset data = random_data(5, 4, 3);
  Eigen::VectorXf gradient;
  EXPECT_THROW(model.loss(Eigen::VectorXf::Zero(17), data, gradient), Error);
  EXPECT_THROW(model.scores(model.initialize(0), Eigen::MatrixXf::Zero(6, 4)), Error);
  data.labels(2) = 3;
  try {
    model.loss(model.initialize(0), data, gradient);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "example 2 has label 3, but the model has 3 classes");
  }
}

TEST(SoftmaxCrossEntropy, StaysFiniteForLargeScores) {
  Eigen::MatrixXf scores(2, 2);
  scores << 1000, -1000, 0, 0;
  EXPECT_FLOAT_EQ(static_cast<float>(softmax_cross_entropy(scores, Eigen::Vector2i(1, 0))), 2000);
  EXPECT_TRUE(scores.allFinite());
}

TEST(ParametersHash, IsStable) {
  EXPECT_EQ(parameters_hash(Eigen::VectorXf()), "cbf29ce484222325");
  EXPECT_EQ(parameters_hash(Eigen::Vector3f(1.0F, -2.5F, 0.0F)), "00f3a969ef350f78");
  EXPECT_NE(parameters_hash(Eigen::Vector2f(1.0F, 2.0F)), parameters_hash(Eigen::Vector2f(2.0F, 1.0F)));
}

}  // namespace
}  // namespace lp
