// Episodes as an objective: what an evaluation depends on, normalized observations, and policies that solve tasks.
#include "programs/evolution/episodes.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>

#include "lp/base/error.h"
#include "programs/environments/cart_pole.h"
#include "programs/environments/environments.h"
#include "programs/experiments/policy_evaluator.h"
#include "tests/programs/evolution/evolution_run.h"

namespace lp {
namespace {

MakeEnvironment named(const std::string& name) {
  return [name] { return make_environment(name); };
}

std::vector<float> start_of(const Objective& objective) {
  const Eigen::VectorXf start = objective.start(1);
  std::vector<float> out(start.begin(), start.end());
  out.resize(objective.size() + objective.normalized());
  out.resize(objective.size() + 2 * objective.normalized(), 1);
  return out;
}

TEST(EpisodesTest, AnEvaluationIsAFunctionOfItsTrialAndParameters) {
  for (const std::string& name : environment_names()) {
    const MakeObjective make = episode_objective({.environment = named(name), .episodes = 3});
    const auto objective = make(1);
    const std::vector<float> parameters = start_of(*objective);
    const Evaluation one = objective->evaluate(parameters, 5);
    objective->evaluate(parameters, 6);
    const Evaluation again = objective->evaluate(parameters, 5);
    const Evaluation elsewhere = make(1)->evaluate(parameters, 5);
    for (const Evaluation& other : {again, elsewhere}) {
      EXPECT_EQ(other.value, one.value) << name;
      EXPECT_EQ(other.steps, one.steps) << name;
      EXPECT_EQ(other.observations.mean, one.observations.mean) << name;
    }
    EXPECT_EQ(one.episodes, 3U);
    EXPECT_GE(one.steps, 3U);
    EXPECT_NE(make(2)->evaluate(parameters, 5).observations.mean, one.observations.mean) << name;
  }
}

// Its episodes can be begun once.
class Once final : public Environment {
 public:
  const EnvironmentSpec& spec() const override { return real_->spec(); }
  void reset(Random random, std::span<float> observation) override {
    if (std::exchange(begun_, true)) throw std::runtime_error("not again");
    real_->reset(random, observation);
  }
  StepResult step(std::span<const float> action, std::span<float> observation) override {
    return real_->step(action, observation);
  }

 private:
  const std::unique_ptr<Environment> real_ = make_environment("cartpole");
  bool begun_ = false;
};

TEST(EpisodesTest, AnEnvironmentThatFailsIsNamedWithItsEpisodeInTheEvaluation) {
  const auto objective = episode_objective({.environment = [] { return std::make_unique<Once>(); }})(1);
  const std::vector<float> parameters = start_of(*objective);
  try {
    objective->evaluate(parameters, std::uint64_t{1} << 32 | 29);  // the name of a trial among those of all generations
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.text().find("\"cartpole\", copy 0, episode 0, step 0: reset() threw"), std::string::npos)
        << error.text();
  }
}

TEST(EpisodesTest, TheValueIsTheMeanOfThatOfThePolicysEpisodes) {
  const EpisodeOptions options{.environment = named("cartpole"), .episodes = 4};
  const auto objective = episode_objective(options)(1);
  const std::vector<float> parameters = start_of(*objective);
  const Evaluation found = objective->evaluate(parameters, 1);
  EnvironmentBatch environments(options.environment, 4, Random(1, "evaluated episodes")());
  const auto policy = episode_policy(options)(environments.spec());
  policy->set({.parameters = Array<float>::copy_of(parameters)});
  double sum = 0;
  for (const double reward : play(environments, *policy)) sum += reward;  // its episodes have number 1
  EXPECT_EQ(found.value, sum / 4);
  EXPECT_EQ(static_cast<double>(found.steps), sum);
}

// Shows what a policy gets to see: one value, far from 0, and pays the action.
class Far final : public Environment {
 public:
  const EnvironmentSpec& spec() const override { return spec_; }
  void reset(Random, std::span<float> observation) override { observation[0] = 1000; }
  StepResult step(std::span<const float> action, std::span<float> observation) override {
    observation[0] = 1002;
    return {.reward = action[0], .terminated = true};
  }

 private:
  EnvironmentSpec spec_{
      .name = "far", .observation = {.width = 1}, .action = {.low = {-2}, .high = {2}}, .most_steps = 10};
};

TEST(EpisodesTest, ObservationsAreNormalizedAndActionsScaled) {
  const EpisodeOptions options{.environment = [] { return std::make_unique<Far>(); }, .network = dense_network({}, {})};
  const auto objective = episode_objective(options)(1);
  ASSERT_EQ(objective->size(), 2U);  // a weight and a bias
  ASSERT_EQ(objective->normalized(), 1U);
  const auto value = [&](float mean, float inverse) {
    return objective->evaluate(std::array<float, 4>{0.5F, 0, mean, inverse}, 0).value;
  };
  EXPECT_NEAR(value(999, 0.5F), 2 * std::tanh(0.25), 1e-6);
  EXPECT_NEAR(value(0, 1), 2 * std::tanh(2.5), 1e-6);  // 5 deviations at most
  EXPECT_NEAR(value(2000, 1), -2 * std::tanh(2.5), 1e-6);
  EXPECT_EQ(objective->evaluate(std::array<float, 4>{}, 0).observations.mean[0], 1000);
}

TEST(EpisodesTest, WithoutNormalizationTheParametersAreTheNetworks) {
  const auto objective = episode_objective({.environment = named("cartpole"), .normalize = false})(1);
  EXPECT_EQ(objective->normalized(), 0U);
  EXPECT_EQ(objective->evaluate(start_of(*objective), 0).observations.count, 0U);
}

TEST(EpisodesTest, WhatIsMissingIsRefused) {
  EXPECT_THROW(episode_objective({}), Error);
  EXPECT_THROW(episode_objective({.environment = named("catch"), .episodes = 0}), Error);
}

class Breaking final : public Environment {
 public:
  const EnvironmentSpec& spec() const override { return inner_.spec(); }
  void reset(Random random, std::span<float> observation) override { inner_.reset(random, observation); }
  StepResult step(std::span<const float>, std::span<float>) override {
    throw std::runtime_error("the simulator crashed");
  }

 private:
  CartPole inner_{};
};

TEST(EpisodesTest, AnEnvironmentThatThrowsIsNamed) {
  Evolution evolution = short_evolution(1);
  evolution.search.objective = episode_objective({.environment = [] { return std::make_unique<Breaking>(); }});
  EvolutionRun run(evolution);
  run.run.wait_failed(1);
  const std::string text = run.run.failed().at("worker/0").what();
  EXPECT_NE(
      text.find("the objective \"cartpole\", generation 0, trial 0, point 0: the environment \"cartpole\", copy 0, "
                "episode 0, step 0: step() threw an exception: the simulator crashed"),
      std::string::npos)
      << text;
}

Evolution cart_pole(NoiseKind noise = NoiseKind::table) {
  return {.search = {.method = evolution_strategy({.pairs = 32, .sigma = 0.1F, .adam = {.rate = 0.05F}}),
                     .objective = episode_objective({.environment = named("cartpole")}),
                     .noise = {.kind = noise, .table_size = 1'000'000},
                     .evaluations = 64 * 40}};
}

// The mean reward of 100 new episodes.
double reward(EvolutionRun& run) {
  const std::vector<float> parameters = run.result();
  EnvironmentBatch environments(named("cartpole"), 100, 1000);
  const auto policy = episode_policy({.environment = named("cartpole")})(environments.spec());
  policy->set({.parameters = Array<float>::copy_of(parameters)});
  double sum = 0;
  for (const double one : play(environments, *policy)) sum += one;
  return sum / 100;
}

TEST(EpisodesTest, AnEvolutionStrategySolvesCartPole) {
  EvolutionRun run(cart_pole());
  EXPECT_GE(reward(run), 475);
}

TEST(EpisodesTest, WithNormalizationTheBitsAreTheSameForAnyNumberOfWorkers) {
  std::vector<float> expected;
  for (const int workers : {1, 2, 5}) {
    Evolution evolution = cart_pole(NoiseKind::counter);
    evolution.search.evaluations = 64 * 5;
    evolution.workers = workers;
    const std::vector<float> result = EvolutionRun(evolution, evolution_run_options(workers == 2)).result();
    if (expected.empty()) expected = result;
    EXPECT_EQ(result, expected) << workers << " workers";
  }
}

TEST(EpisodesLong, AnEvolutionStrategySolvesCartPoleWithFiveSeeds) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    EvolutionRun run(cart_pole(), evolution_run_options(false, seed));
    EXPECT_GE(reward(run), 475) << "seed " << seed;
  }
}

}  // namespace
}  // namespace lp
