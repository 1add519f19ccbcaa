// Distributions of actions against their definitions, and their derivatives against numerical ones.
#include "programs/agents/action_distribution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "programs/networks/layered_network.h"

namespace lp {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::RowVectorXf;
using Eigen::VectorXf;

const ActionSpace kTorques{.low = {-2, 0}, .high = {2, 10}};
const EnvironmentSpec kSpec{.name = "test", .observation = {.width = 3}, .action = kTorques, .most_steps = 10};

MatrixXf normal(Index rows, Index columns, std::uint64_t seed) {
  Random random(seed, "matrix");
  MatrixXf out(rows, columns);
  for (float& one : out.reshaped()) one = static_cast<float>(random.normal() / 2);
  return out;
}

TEST(ActionDistributionTest, ContinuousActionsHaveTheDensityOfNormalOnes) {
  const auto distribution = action_distribution(kTorques);
  MatrixXf parameters(4, 1);
  parameters << 0.5F, -0.25F, std::log(2.0F), std::log(0.5F);
  MatrixXf actions(2, 1);
  actions << -1, 7.5F;  // in units of half of the range: -0.5 and 0.5
  const double pi = std::numbers::pi;
  const double first = std::exp(-0.5 * 0.25) / (2 * std::sqrt(2 * pi));     // (-0.5 - 0.5) / 2
  const double second = std::exp(-0.5 * 2.25) / (0.5 * std::sqrt(2 * pi));  // (0.5 + 0.25) / 0.5
  EXPECT_NEAR(distribution->log_probabilities(parameters, actions)(0), std::log(first * second), 1e-5);
  EXPECT_NEAR(distribution->entropies(parameters)(0), std::log(2 * pi * std::numbers::e), 1e-5);
  distribution->most_probable(parameters, actions);
  EXPECT_FLOAT_EQ(actions(0), 1);
  EXPECT_FLOAT_EQ(actions(1), 3.75F);
}

TEST(ActionDistributionTest, DrawnActionsHaveTheMeansAndDeviations) {
  const auto distribution = action_distribution(kTorques);
  constexpr Index kDraws = 100'000;
  MatrixXf parameters(4, kDraws);
  parameters.colwise() = Eigen::Vector4f(0.5F, -0.25F, std::log(0.5F), 0);
  Random random(3, "draws");
  MatrixXf actions;
  distribution->sample(parameters, random, actions);
  const Eigen::Vector2f means = actions.rowwise().mean();
  EXPECT_NEAR(means(0), 1, 0.02);
  EXPECT_NEAR(means(1), 3.75, 0.1);
  const MatrixXf off = actions.colwise() - means;
  EXPECT_NEAR(std::sqrt(off.row(0).squaredNorm() / kDraws), 1, 0.02);
  EXPECT_NEAR(std::sqrt(off.row(1).squaredNorm() / kDraws), 5, 0.1);
}

// The derivative of a function of the values, in the middle of a small step.
VectorXf numerical(VectorXf values, const std::function<double(const VectorXf&)>& f) {
  constexpr float kStep = 1e-2F;
  VectorXf out(values.size());
  for (Index i = 0; i < values.size(); ++i) {
    const float before = values(i);
    values(i) = before + kStep;
    const double above = f(values);
    values(i) = before - kStep;
    out(i) = static_cast<float>((above - f(values)) / (2 * static_cast<double>(kStep)));
    values(i) = before;
  }
  return out;
}

TEST(ActionDistributionTest, ErrorsAreTheNumericalDerivatives) {
  for (const ActionSpace& space : {kTorques, ActionSpace{.choices = 4}}) {
    const auto distribution = action_distribution(space);
    const MatrixXf outputs = normal(4, 3, 5);
    MatrixXf actions(space.size(), 3);
    if (space.discrete()) {
      actions << 0, 3, 1;
    } else {
      actions << 1, -0.5F, 2.5F, 3, 4, 9;
    }
    const RowVectorXf by_action = normal(1, 3, 6);
    constexpr float kByEntropy = 0.3F;
    const auto value = [&](const VectorXf& flat) {
      MatrixXf parameters = flat.reshaped(4, 3);
      distribution->normalize(parameters);
      return static_cast<double>(distribution->log_probabilities(parameters, actions).dot(by_action) +
                                 kByEntropy * distribution->entropies(parameters).sum());
    };
    MatrixXf parameters = outputs;
    distribution->normalize(parameters);
    MatrixXf errors = MatrixXf::Zero(4, 3);
    distribution->add_errors(parameters, actions, by_action, kByEntropy, errors);
    EXPECT_LT((errors.reshaped() - numerical(outputs.reshaped(), value)).cwiseAbs().maxCoeff(), 5e-3F)
        << "choices: " << space.choices;
  }
}

TEST(ActionDistributionTest, TheGradientOfThePolicyNetworkIsTheNumericalOne) {
  const auto network = policy_network(dense_network({5}, Unit::tanh), kSpec);
  ASSERT_EQ(network->outputs(), 4);
  VectorXf parameters = network->initialize(1);
  EXPECT_TRUE(parameters.tail(2).isZero());
  parameters.tail(2) << 0.25F, -0.5F;
  const MatrixXf inputs = normal(3, 6, 2);
  const MatrixXf errors = normal(4, 6, 3);
  network->forward(parameters, inputs);
  VectorXf gradient(network->size());
  network->backward(parameters, inputs, errors, gradient);
  const auto value = [&](const VectorXf& flat) {
    return static_cast<double>(network->forward(flat, inputs).cwiseProduct(errors).sum());
  };
  EXPECT_LT((gradient - numerical(parameters, value)).cwiseAbs().maxCoeff(), 5e-3F);
}

}  // namespace
}  // namespace lp
