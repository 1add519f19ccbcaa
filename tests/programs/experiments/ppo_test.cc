// PPO in rounds: what it learns, the bits that a seed decides, restarts, and nodes that do not do their part.
#include "programs/agents/ppo.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "lp/checkpoint/cut.h"
#include "programs/environments/cart_pole.h"
#include "programs/environments/environments.h"
#include "programs/experiments/round_trainer.h"
#include "tests/programs/experiments/ascending.h"
#include "tests/programs/experiments/experiment_run.h"

namespace lp {
namespace {

// 20 rounds of two actors.
Experiment short_ppo() {
  return {.agent = ppo({.policy = dense_network({16}, Unit::tanh, 0.01F),
                        .value = dense_network({16}, Unit::tanh),
                        .copies = 4,
                        .steps = 25,
                        .epochs = 2,
                        .batch = 64}),
          .environment = named("cartpole"),
          .steps = 4000,
          .checkpoint_every = 5};
}

std::string hash_of_short(Runtime::Options options = experiment_options()) {
  ExperimentRun run(short_ppo(), std::move(options));
  return run.result().parameters_hash;
}

TEST(PpoTest, GivesTheSameBitsOnEveryPathAndEveryTime) {
  const std::string hash = hash_of_short();
  EXPECT_EQ(hash_of_short(), hash);
  EXPECT_EQ(hash_of_short(experiment_options(kExperimentSeed, /*serialize=*/true)), hash);
  EXPECT_NE(hash_of_short(experiment_options(kExperimentSeed + 1)), hash);
}

TEST(PpoTest, CountsWhatItLearnedFrom) {
  ExperimentRun run(short_ppo());
  const ExperimentResult result = run.result();
  EXPECT_EQ(result.steps, 4000U);
  EXPECT_EQ(result.updates, 20U);
  const TrainingCounts counts = run.learner().call<&ParameterSource::counts>();
  EXPECT_EQ(counts.steps, 4000U);
  EXPECT_GT(counts.episodes, 20U);
  EXPECT_GT(counts.recent_reward, 9);
  const MetricSeries series = run.metrics().call<&Metrics::all>();
  EXPECT_EQ(series.at("reward").back().step, 4000U);
  EXPECT_EQ(series.at("reward").back().value, counts.recent_reward);
  EXPECT_EQ(series.count("value_loss"), 1U);
}

TEST(PpoTest, ReportsNoRewardBeforeAnEpisodeHasEnded) {
  ExperimentRun run({.agent = ppo(), .environment = named("mountaincar"), .steps = 1000});
  run.result();
  EXPECT_EQ(run.learner().call<&ParameterSource::counts>().episodes, 0U);
  EXPECT_FALSE(run.learner().call<&ParameterSource::counts>().recent_reward);
  const MetricSeries series = run.metrics().call<&Metrics::all>();
  EXPECT_EQ(series.count("reward"), 0U);
  EXPECT_EQ(series.count("episodes"), 1U);
}

TEST(PpoTest, LearnsToCatchEveryBall) {
  ExperimentRun run({.agent = ppo(), .environment = named("catch"), .steps = 30'000});
  EXPECT_EQ(run.result().mean, 1);
}

TEST(PpoTest, AGoalEndsTheProgramEarly) {
  Experiment experiment = short_ppo();
  experiment.steps = 1'000'000'000;
  experiment.evaluation = {.episodes = 3, .goal = 1};
  ExperimentRun run(experiment);
  run.run.wait_finished();
  EXPECT_NE(run.run.stop_reason().find("the mean reward of 3 episodes is"), std::string::npos);
  const auto results = run.evaluator().call<&PolicyEvaluator::results>();
  ASSERT_EQ(results.size(), 1U);
  EXPECT_GE(results[0].mean, 1);
  EXPECT_EQ(results[0].episodes, 3);
  EXPECT_EQ(run.evaluator().call<&PolicyEvaluator::best>().steps, results[0].steps);
}

TEST(PpoTest, WithoutItsGoalTheResultIsTheLastPolicyAlsoWhenOnlyTheFirstWasEvaluated) {
  Experiment experiment = short_ppo();
  experiment.evaluation = {.episodes = 3, .period = kForever, .goal = 501};
  ExperimentRun run(experiment);
  EXPECT_EQ(run.result().steps, 4000U);
}

TEST(PpoTest, ARunThatGoesBackToItsCutEndsWithTheSameBits) {
  const std::string hash = hash_of_short();
  for (const bool serialize : {false, true}) {
    const std::filesystem::path directory = ::testing::TempDir() + "lp_ppo_cut";
    std::filesystem::remove_all(directory);
    Runtime::Options options = experiment_options(kExperimentSeed, serialize);
    options.run.directory = directory;
    {
      ExperimentRun run(short_ppo(), options);
      run.run.wait_saved(10, 3);
      run.run.restart({"learner", "actor/0", "actor/1"}, cut_directory(directory, 10));
      EXPECT_EQ(run.result().parameters_hash, hash);
      EXPECT_EQ(run.learner().call<&ParameterSource::counts>().steps, 4000U);
      expect_ascending(run.metrics().call<&Metrics::all>());
    }
    std::filesystem::remove_all(directory);
  }
}

// A CartPole that throws in its 300th step, in whatever episode.
class Breaking final : public Environment {
 public:
  const EnvironmentSpec& spec() const override { return inner_.spec(); }
  void reset(Random random, std::span<float> observation) override { inner_.reset(random, observation); }
  StepResult step(std::span<const float> action, std::span<float> observation) override {
    if (++steps_ == 300) throw std::runtime_error("the simulator crashed");
    return inner_.step(action, observation);
  }

 private:
  CartPole inner_{};
  int steps_ = 0;
};

TEST(PpoTest, AnEnvironmentThatThrowsIsNamedByItsActor) {
  Experiment experiment = short_ppo();
  experiment.actors = 1;
  experiment.environment = [] { return std::make_unique<Breaking>(); };
  ExperimentRun run(experiment);
  run.run.wait_failed("actor/0");  // perhaps after the evaluator
  const std::string text = run.run.failed().at("actor/0").what();
  EXPECT_NE(text.find("the environment \"cartpole\", copy 0, episode "), std::string::npos) << text;
  EXPECT_NE(text.find("the simulator crashed"), std::string::npos) << text;
}

RoundOptions rounds(const Agent& agent) {
  return {.agent = agent,
          .environment = named("cartpole"),
          .actors = 2,
          .rounds = 10,
          .patience = std::chrono::milliseconds(20)};
}

TEST(PpoTest, AnActorThatSendsNothingIsNamed) {
  Program program("experiment");
  const auto metrics = program.add<Metrics>({.name = "metrics"});
  const auto learner = program.add<RoundTrainer>({.name = "learner"}, context, metrics, rounds(ppo()));
  LocalRun run(program);
  run.wait_failed(1);
  const std::string text = run.failed().at("learner").what();
  EXPECT_NE(text.find("round 0 is not complete after 20 ms: actor/0, actor/1 sent nothing"), std::string::npos) << text;
}

TEST(PpoTest, ASegmentOfARoundThatIsOverChangesNothingAndOneOfAFutureRoundIsRefused) {
  Program program("experiment");
  const auto metrics = program.add<Metrics>({.name = "metrics"});
  RoundOptions options = rounds(ppo({.copies = 2, .steps = 3}));
  options.actors = 1;
  options.patience = std::chrono::minutes(5);
  const auto handle = program.add<RoundTrainer>({.name = "learner"}, context, metrics, options);
  LocalRun run(program);
  const Client<RoundTrainer> learner = run.client(handle);
  EnvironmentBatch environments(options.environment, 2, 1);
  const std::unique_ptr<Policy> policy = options.agent.policy(environments.spec());
  policy->set(*learner.read<&RoundTrainer::learned>());
  Random random(1, "actions");
  const Segment segment = act_out(environments, *policy, random, 3);
  EXPECT_TRUE(learner.call<&RoundTrainer::contribute>(0U, std::uint64_t{0}, segment));
  EXPECT_TRUE(learner.call<&RoundTrainer::contribute>(0U, std::uint64_t{0}, segment));
  EXPECT_EQ(learner.call<&RoundTrainer::counts>().steps, 6U);
  EXPECT_THROW(learner.call<&RoundTrainer::contribute>(0U, std::uint64_t{7}, segment), Error);
  EXPECT_THROW(learner.call<&RoundTrainer::contribute>(1U, std::uint64_t{1}, segment), Error);
}

std::string refusal(const Experiment& experiment) {
  try {
    Program program("experiment");
    add_experiment(program, experiment);
  } catch (const Error& error) {
    return error.text();
  }
  return "";
}

TEST(ExperimentTest, WhatIsMissingIsRefusedBeforeAnythingStarts) {
  EXPECT_EQ(refusal({.agent = ppo()}), "an experiment needs an environment");
  EXPECT_EQ(refusal({.environment = named("catch")}), "an experiment needs an agent with a policy and a learner");
  Experiment none = short_ppo();
  none.actors = 0;
  EXPECT_EQ(refusal(none), "an experiment needs at least 1 actor, not 0");
  Experiment aimless = short_ppo();
  aimless.evaluation.goal = std::nan("");
  EXPECT_EQ(refusal(aimless), "an experiment needs a goal that is a number");
}

TEST(PpoLong, ReachesFourHundredAndSeventyFiveInCartPoleWithFiveSeeds) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    ExperimentRun run({.agent = ppo(), .environment = named("cartpole")}, experiment_options(seed));
    EXPECT_GE(run.result().mean, 475) << "seed " << seed;
  }
}

// Its actions are continuous. The options are those of examples/ppo.cc.
TEST(PpoLong, ReachesMinusTwoHundredInPendulumWithFiveSeeds) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    ExperimentRun run({.agent = ppo({.copies = 8, .steps = 256, .discount = 0.9F, .decay = 0.95F}),
                       .environment = named("pendulum"),
                       .steps = 300'000},
                      experiment_options(seed));
    EXPECT_GE(run.result().mean, -200) << "seed " << seed;
  }
}

}  // namespace
}  // namespace lp
