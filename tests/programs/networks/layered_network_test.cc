// Networks: outputs against slow loops, derivatives against differences, and refused shapes.
#include "programs/networks/layered_network.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/random.h"
#include "programs/networks/clipping.h"

namespace lp {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::VectorXf;

MatrixXf random_matrix(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed, "matrix");
  MatrixXf out(rows, cols);
  for (float& one : out.reshaped()) one = static_cast<float>(random.normal());
  return out;
}

// The loss whose derivative with respect to the outputs is `errors`.
double loss(Network& network, const VectorXf& parameters, const MatrixXf& inputs, const MatrixXf& errors) {
  return network.forward(parameters, inputs).cast<double>().cwiseProduct(errors.cast<double>()).sum();
}

// Compares each derivative with a central difference.
void check_derivatives(LayeredNetwork& network) {
  constexpr float kStep = 1e-2F;
  constexpr double kNear = 2e-3;  // relative to the largest derivative: float32, and the third derivative
  VectorXf parameters = network.initialize(1);
  MatrixXf inputs = random_matrix(network.inputs(), 3, 2);
  const MatrixXf errors = random_matrix(network.outputs(), 3, 3);
  VectorXf gradient(network.size());
  MatrixXf input_errors;
  network.forward(parameters, inputs);
  network.backward(parameters, inputs, errors, gradient, &input_errors);
  ASSERT_EQ(input_errors.rows(), inputs.rows());
  const auto compare = [&](float& value, float derivative, double largest) {
    const float before = value;
    value = before + kStep;
    const double above = loss(network, parameters, inputs, errors);
    value = before - kStep;
    const double below = loss(network, parameters, inputs, errors);
    value = before;
    ASSERT_NEAR((above - below) / (2 * kStep), static_cast<double>(derivative), kNear * largest);
  };
  for (Index i = 0; i < parameters.size(); ++i) {
    compare(parameters(i), gradient(i), static_cast<double>(gradient.cwiseAbs().maxCoeff()));
  }
  for (Index i = 0; i < inputs.size(); ++i) {
    compare(inputs.data()[i], input_errors.data()[i], static_cast<double>(input_errors.cwiseAbs().maxCoeff()));
  }
}

TEST(LayeredNetworkTest, DerivativesOfDenseLayersAreThoseOfDifferences) {
  LayeredNetwork network({.width = 5}, {Dense{.units = 7, .unit = Unit::tanh}, Dense{.units = 6, .unit = Unit::tanh},
                                        Dense{.units = 3, .scale = 0.5F}});
  EXPECT_EQ(network.size(), 5 * 7 + 7 + 7 * 6 + 6 + 6 * 3 + 3);
  check_derivatives(network);
}

TEST(LayeredNetworkTest, DerivativesOfConvolutionsAreThoseOfDifferences) {
  LayeredNetwork network({.channels = 2, .height = 7, .width = 6},
                         {Convolution{.channels = 3, .window = 3, .stride = 2, .unit = Unit::tanh},
                          Convolution{.channels = 4, .window = 2, .unit = Unit::tanh}, Dense{.units = 2}});
  EXPECT_EQ(network.outputs(), 2);
  check_derivatives(network);
}

TEST(LayeredNetworkTest, ARectifiedUnitPassesErrorsOnlyWhereItsSumIsPositive) {
  LayeredNetwork network({.width = 1}, {Dense{.units = 2, .unit = Unit::relu}});
  const VectorXf parameters = (VectorXf(4) << 2, -2, 0.5F, 0.25F).finished();
  const MatrixXf inputs = (MatrixXf(1, 2) << 1, -1).finished();
  const MatrixXf out = network.forward(parameters, inputs);
  EXPECT_EQ(out, (MatrixXf(2, 2) << 2.5F, 0, 0, 2.25F).finished());
  VectorXf gradient(4);
  network.backward(parameters, inputs, MatrixXf::Constant(2, 2, 3), gradient);
  EXPECT_EQ(gradient, (VectorXf(4) << 3, -3, 3, 3).finished());
}

TEST(LayeredNetworkTest, AConvolutionIsTheSumOverItsWindows) {
  const Shape shape{.channels = 2, .height = 5, .width = 4};
  LayeredNetwork network(shape, {Convolution{.channels = 3, .window = 2, .stride = 2, .unit = Unit::linear}});
  const VectorXf parameters = random_matrix(network.size(), 1, 4);
  const MatrixXf inputs = random_matrix(shape.size(), 2, 5);
  const MatrixXf& out = network.forward(parameters, inputs);
  ASSERT_EQ(out.rows(), 3 * 2 * 2);
  for (Index example = 0; example < 2; ++example) {
    for (Index channel = 0; channel < 3; ++channel) {
      for (Index row = 0; row < 2; ++row) {
        for (Index column = 0; column < 2; ++column) {
          float sum = parameters(3 * 8 + channel);
          for (Index c = 0; c < 2; ++c) {
            for (Index y = 0; y < 2; ++y) {
              for (Index x = 0; x < 2; ++x) {
                sum += parameters(channel * 8 + (c * 2 + y) * 2 + x) *
                       inputs((c * 5 + 2 * row + y) * 4 + 2 * column + x, example);
              }
            }
          }
          EXPECT_NEAR(out((channel * 2 + row) * 2 + column, example), sum, 1e-5);
        }
      }
    }
  }
}

TEST(LayeredNetworkTest, InitialWeightsAreAFunctionOfTheSeedWithTheVarianceOfTheirUnits) {
  LayeredNetwork network({.width = 100}, {Dense{.units = 100, .unit = Unit::relu}, Dense{.units = 100, .scale = 0.1F}});
  const VectorXf parameters = network.initialize(3);
  EXPECT_EQ(parameters, network.initialize(3));
  EXPECT_NE(parameters, network.initialize(4));
  EXPECT_NEAR(parameters.head(10'000).squaredNorm() / 10'000, 2.0 / 100, 1e-3);
  EXPECT_EQ(parameters.segment(10'000, 100).squaredNorm(), 0);
  EXPECT_NEAR(parameters.segment(10'100, 10'000).squaredNorm() / 10'000, 0.01 / 100, 1e-5);
}

TEST(LayeredNetworkTest, ABatchAllocatesNothingThatTheBatchBeforeHadNot) {
  LayeredNetwork network({.width = 4}, {Dense{.units = 8, .unit = Unit::tanh}, Dense{.units = 2}});
  const VectorXf parameters = network.initialize(1);
  const MatrixXf inputs = random_matrix(4, 16, 1);
  const float* const first = network.forward(parameters, inputs).data();
  EXPECT_EQ(network.forward(parameters, inputs).data(), first);
}

std::string refusal(const Shape& shape, const std::vector<LayerOptions>& layers) {
  try {
    const LayeredNetwork network(shape, layers);
  } catch (const Error& error) {
    return error.text();
  }
  return "";
}

TEST(LayeredNetworkTest, WhatDoesNotFitIsRefusedWithAReason) {
  EXPECT_EQ(refusal({.width = 4}, {}), "a network needs at least one layer");
  EXPECT_NE(refusal({.width = 4}, {Dense{.units = 0}}).find("0 units"), std::string::npos);
  EXPECT_NE(refusal({.width = 4}, {Convolution{}}).find("a window of 3 on images of 1 × 4"), std::string::npos);
  EXPECT_NE(refusal({.width = 0}, {Dense{}}).find("has no inputs"), std::string::npos);
  LayeredNetwork network({.width = 4}, {Dense{.units = 2}});
  EXPECT_THROW(network.forward(VectorXf::Zero(9), MatrixXf::Zero(4, 1)), Error);
  EXPECT_THROW(network.forward(VectorXf::Zero(10), MatrixXf::Zero(5, 1)), Error);
}

TEST(ClippingTest, ALongGradientKeepsItsDirectionAndAShortOneIsLeft) {
  VectorXf gradient = Eigen::Vector2f(3, 4);
  EXPECT_EQ(clip_norm(gradient, 10), 5);
  EXPECT_EQ(gradient, Eigen::Vector2f(3, 4));
  EXPECT_EQ(clip_norm(gradient, 1), 5);
  EXPECT_NEAR(gradient(0), 0.6F, 1e-6);
  gradient(1) = std::nanf("");
  EXPECT_THROW(clip_norm(gradient, 1), Error);
}

}  // namespace
}  // namespace lp
