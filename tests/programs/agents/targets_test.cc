// The formulas that agents learn from, against slow sums of their definitions, and against numbers that rlax 0.1.9
// (DeepMind, PyPI) computed once.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "lp/base/random.h"
#include "programs/agents/categorical.h"
#include "programs/agents/ppo_loss.h"
#include "programs/agents/q_values.h"
#include "programs/agents/returns.h"
#include "programs/agents/td3_targets.h"
#include "programs/agents/vtrace.h"

namespace lp {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::RowVectorXf;
using Eigen::VectorXf;

RowVectorXf row(const std::vector<float>& values) {
  return Eigen::Map<const RowVectorXf>(values.data(), static_cast<Index>(values.size()));
}

void expect_near(const MatrixXf& found, const MatrixXf& wanted, float near = 2e-5F) {
  ASSERT_EQ(found.rows(), wanted.rows());
  ASSERT_EQ(found.cols(), wanted.cols());
  EXPECT_LT((found - wanted).cwiseAbs().maxCoeff(), near) << found << "\nwanted\n" << wanted;
}

// Five steps of one copy, of which the third ends an episode.
Trajectory five_steps() {
  return {.rewards = row({1, -0.5F, 0.25F, 2, 0.75F}),
          .values = row({0.3F, -0.2F, 0.8F, 0.1F, -0.6F}),
          .next_values = row({-0.2F, 0.8F, 0, -0.6F, 0.4F}),
          .goes_on = row({1, 1, 0, 1, 1})};
}

// Three copies whose episodes end, and are truncated, at random.
Trajectory random_trajectory(Index steps) {
  Random random(3, "trajectory");
  Trajectory out;
  for (MatrixXf* one : {&out.rewards, &out.values, &out.next_values, &out.goes_on}) {
    one->resize(3, steps);
    for (float& value : one->reshaped()) value = static_cast<float>(random.normal());
  }
  for (Index i = 0; i < out.goes_on.size(); ++i) {
    const std::uint64_t kind = random.below(5);
    out.goes_on.reshaped()(i) = kind < 2 ? 0 : 1;
    if (kind == 0) out.next_values.reshaped()(i) = 0;
  }
  return out;
}

TEST(ReturnsTest, AdvantagesAreTheDiscountedSumOfDifferences) {
  expect_near(advantages(five_steps(), 0.9F, 0.8F), row({0.53727996F, 0.023999965F, -0.55F, 2.5911999F, 1.71F}));
  const Trajectory trajectory = random_trajectory(20);
  const MatrixXf found = advantages(trajectory, 0.95F, 0.7F);
  for (Index copy = 0; copy < 3; ++copy) {
    for (Index t = 0; t < 20; ++t) {
      double sum = 0;
      double factor = 1;
      for (Index k = t; k < 20; ++k) {
        sum += factor *
               (trajectory.rewards(copy, k) + 0.95 * trajectory.next_values(copy, k) - trajectory.values(copy, k));
        if (trajectory.goes_on(copy, k) == 0) break;
        factor *= 0.95 * 0.7;
      }
      EXPECT_NEAR(found(copy, t), sum, 1e-4);
    }
  }
}

TEST(ReturnsTest, WithoutDecayAdvantagesAreReturnsMinusValues) {
  Trajectory trajectory = five_steps();
  trajectory.next_values(0) = trajectory.values(1);
  trajectory.next_values(1) = trajectory.values(2);
  trajectory.next_values(3) = trajectory.values(4);
  expect_near(advantages(trajectory, 0.9F, 1), n_step_returns(trajectory, 0.9F, 5) - trajectory.values);
}

TEST(ReturnsTest, NStepReturnsStopAtTheEndOfAnEpisode) {
  expect_near(n_step_returns(five_steps(), 0.9F, 2), row({1.198F, -0.275F, 0.25F, 2.999F, 1.11F}));
  const Trajectory trajectory = five_steps();
  expect_near(n_step_returns(trajectory, 0.9F, 1), trajectory.rewards + 0.9F * trajectory.next_values);
}

TEST(VtraceTest, AgreesWithRlax) {
  const RowVectorXf log_ratios = row({0.5F, -0.7F, 0.1F, 1.2F, -0.2F});
  const Vtrace found = vtrace(five_steps(), log_ratios, {.discount = 0.9F});
  expect_near(found.values - five_steps().values, row({0.48648041F, -0.037243932F, -0.55F, 2.6200266F, 1.4000297F}));
  expect_near(found.advantages, row({0.48648041F, -0.0372439F, -0.55F, 2.6200268F, 1.4000297F}));
}

TEST(VtraceTest, IsTheSumOfEquationOne) {
  const Trajectory trajectory = random_trajectory(12);
  const MatrixXf log_ratios = random_trajectory(12).values * 0.7F;
  const VtraceOptions options{.discount = 0.9F, .most_weight = 1.3F, .most_trace = 0.8F};
  const Vtrace found = vtrace(trajectory, log_ratios, options);
  for (Index copy = 0; copy < 3; ++copy) {
    for (Index s = 0; s < 12; ++s) {
      double value = trajectory.values(copy, s);
      double factor = 1;
      for (Index t = s; t < 12; ++t) {
        const double ratio = std::exp(static_cast<double>(log_ratios(copy, t)));
        const double delta =
            std::min(1.3, ratio) *
            (trajectory.rewards(copy, t) + 0.9 * trajectory.next_values(copy, t) - trajectory.values(copy, t));
        value += factor * delta;
        if (trajectory.goes_on(copy, t) == 0) break;
        factor *= 0.9 * std::min(0.8, ratio);
      }
      EXPECT_NEAR(found.values(copy, s), value, 1e-4);
    }
  }
}

TEST(VtraceTest, OnItsOwnPolicyItIsTheReturn) {
  Trajectory trajectory = five_steps();
  for (const Index t : {0, 1, 3}) trajectory.next_values(t) = trajectory.values(t + 1);
  expect_near(vtrace(trajectory, RowVectorXf::Zero(5), {.discount = 0.9F}).values, n_step_returns(trajectory, 0.9F, 5));
}

TEST(QValuesTest, TargetsTakeTheTargetNetworksValueOfTheOnlineNetworksChoice) {
  MatrixXf online(3, 2);
  online << 0.3F, 5, 1.2F, 4, 0.5F, 3;
  MatrixXf target(3, 2);
  target << 0.2F, 1, 0.4F, 2, 0.9F, 3;
  // The first is rlax.double_q_learning's target: its difference to 0.5 is 0.36.
  expect_near(double_q_targets(row({0.5F, 7}).transpose(), row({0.9F, 0}).transpose(), online, target),
              row({0.86F, 7}).transpose());
}

TEST(QValuesTest, DuelingValuesHaveTheMeanVAndTheirErrorsAreTheTransposedMap) {
  Random random(1, "dueling");
  MatrixXf outputs(4, 5);
  MatrixXf errors(3, 5);
  for (float& one : outputs.reshaped()) one = static_cast<float>(random.normal());
  for (float& one : errors.reshaped()) one = static_cast<float>(random.normal());
  MatrixXf values;
  dueling_values(outputs, values);
  expect_near(values.colwise().mean(), outputs.row(3));
  expect_near(values.row(0) - values.row(2), outputs.row(0) - outputs.row(2));
  MatrixXf back;
  dueling_errors(errors, back);
  EXPECT_NEAR(values.cwiseProduct(errors).sum(), outputs.cwiseProduct(back).sum(), 1e-4);  // <Mx, y> = <x, M'y>
}

TEST(QValuesTest, HuberIsQuadraticNearZeroAndThenLinear) {
  EXPECT_FLOAT_EQ(huber(-0.5F), 0.125F);
  EXPECT_FLOAT_EQ(huber(1), 0.5F);
  EXPECT_FLOAT_EQ(huber(-3), 2.5F);
}

TEST(Td3TargetsTest, TakeTheSmallerValueAndBoundTheNoise) {
  expect_near(td3_targets(row({1, 2}).transpose(), row({0.5F, 0}).transpose(), row({4, 9}), row({6, 8})),
              row({3, 2}).transpose());
  const ActionSpace space{.low = {-2, 0}, .high = {2, 10}};
  MatrixXf actions = MatrixXf::Zero(2, 10'000);
  actions.row(1).setConstant(5);
  Random random(1, "noise");
  smooth_actions(actions, space, {.deviation = 0.2F, .most = 0.5F}, random);
  EXPECT_LE(actions.row(0).cwiseAbs().maxCoeff(), 1.0F);  // half of half the range
  EXPECT_NEAR(actions.row(0).squaredNorm() / 10'000, 0.4F * 0.4F, 0.01F);
  EXPECT_NEAR((actions.row(1).array() - 5).square().sum() / 10'000, 1.0F, 0.05F);
  actions.setConstant(100);
  smooth_actions(actions, space, {}, random);
  EXPECT_LE(actions.row(0).maxCoeff(), 2);
}

TEST(PpoLossTest, AgreesWithRlaxAndItsErrorsAreThoseOfDifferences) {
  const RowVectorXf logs = row({0.7F, 1.0F, 1.5F, 1.1F, 0.9F}).array().log();
  const RowVectorXf old = RowVectorXf::Zero(5);
  const RowVectorXf advantage = row({1, -2, 0.5F, -1, 3});
  const ClippedLoss found = clipped_loss(logs, old, advantage, 0.2F);
  EXPECT_NEAR(found.loss, -0.18F, 1e-6);
  EXPECT_NEAR(found.clipped, 0.4F, 1e-6);
  EXPECT_NEAR(found.divergence, (1.04 - std::log(0.7 * 1.5 * 1.1 * 0.9) / 5) - 1, 1e-5);
  for (Index i = 0; i < 5; ++i) {
    if (i == 1) continue;  // a ratio of 1 lies inside
    RowVectorXf above = logs;
    RowVectorXf below = logs;
    above(i) += 1e-2F;
    below(i) -= 1e-2F;
    const float slope =
        (clipped_loss(above, old, advantage, 0.2F).loss - clipped_loss(below, old, advantage, 0.2F).loss) / 2e-2F;
    EXPECT_NEAR(found.errors(i), slope, 1e-3) << i;
  }
  EXPECT_EQ(found.errors(2), 0);  // a gain that is clipped teaches nothing
}

TEST(CategoricalTest, LogProbabilitiesSurviveLargeLogits) {
  MatrixXf logits(3, 2);
  logits << 1000, 0, 1000, std::log(2.0F), -1000, std::log(5.0F);
  log_softmax(logits);
  EXPECT_NEAR(logits(0, 0), std::log(0.5F), 1e-6);
  EXPECT_NEAR(logits(2, 1), std::log(0.625F), 1e-6);
  EXPECT_NEAR(entropies(logits)(0), std::log(2.0F), 1e-6);
}

TEST(CategoricalTest, ActionsAreDrawnWithTheirProbabilities) {
  constexpr Index kDraws = 20'000;
  MatrixXf logits = VectorXf(row({0, std::log(2.0F), std::log(5.0F)}).transpose()).replicate(1, kDraws);
  log_softmax(logits);
  Random random(1, "actions");
  MatrixXf actions;
  sample(logits, random, actions);
  for (const auto& [action, probability] : {std::pair(0, 0.125), std::pair(1, 0.25), std::pair(2, 0.625)}) {
    const auto share = static_cast<double>((actions.array() == static_cast<float>(action)).count()) / kDraws;
    EXPECT_NEAR(share, probability, 4 * std::sqrt(probability * (1 - probability) / kDraws));
  }
  most_probable(logits, actions);
  EXPECT_EQ(actions.minCoeff(), 2);
}

TEST(CategoricalTest, ErrorsAreThoseOfDifferences) {
  Random random(1, "logits");
  MatrixXf logits(4, 3);
  for (float& one : logits.reshaped()) one = static_cast<float>(random.normal());
  const RowVectorXf actions = row({2, 0, 3});
  const RowVectorXf by_action = row({0.5F, -1, 2});
  const auto objective = [&](MatrixXf at) {
    log_softmax(at);
    return chosen(at, actions).dot(by_action) + 0.3F * entropies(at).sum();
  };
  MatrixXf logs = logits;
  log_softmax(logs);
  MatrixXf errors = MatrixXf::Zero(4, 3);
  add_errors(logs, actions, by_action, 0.3F, errors);
  for (Index i = 0; i < logits.size(); ++i) {
    MatrixXf above = logits;
    MatrixXf below = logits;
    above.reshaped()(i) += 1e-2F;
    below.reshaped()(i) -= 1e-2F;
    EXPECT_NEAR(errors.reshaped()(i), (objective(above) - objective(below)) / 2e-2F, 1e-3);
  }
}

}  // namespace
}  // namespace lp
