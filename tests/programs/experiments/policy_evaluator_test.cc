// The evaluator of an experiment: when a goal counts as reached, and a stop in the middle of an evaluation.
#include "programs/experiments/policy_evaluator.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "programs/agents/ppo.h"
#include "tests/programs/experiments/experiment_run.h"

namespace lp {
namespace {

// Episodes of `steps` steps. The reward of an episode is that of its last step.
class Scripted final : public Environment {
 public:
  using Reward = float (*)(int episodes_before);
  Scripted(std::uint64_t steps, Reward reward) : reward_(reward) {
    spec_ = {.name = "scripted", .observation = {.width = 1}, .action = {.choices = 2}, .most_steps = steps};
  }
  const EnvironmentSpec& spec() const override { return spec_; }
  void reset(Random, std::span<float> observation) override {
    ++begun_;
    steps_ = 0;
    observation[0] = 0;
  }
  StepResult step(std::span<const float>, std::span<float>) override {
    return {.reward = ++steps_ == spec_.most_steps ? reward_(begun_ - 1) : 0.0F};
  }

 private:
  EnvironmentSpec spec_{};
  Reward reward_;
  int begun_ = 0;
  std::uint64_t steps_ = 0;
};

Experiment scripted(std::uint64_t steps, Scripted::Reward reward) {
  return {
      .agent = ppo({.policy = dense_network({2}, Unit::tanh), .value = dense_network({2}, Unit::tanh), .copies = 1}),
      .environment = [=] { return std::make_unique<Scripted>(steps, reward); },
      .actors = 1,
      .steps = 1'000'000'000,
      .evaluation = {.episodes = 1, .period = std::chrono::milliseconds(1), .goal = 5}};
}

// An evaluation plays an episode from its beginning, and the batch begins another at its end: so the first evaluation
// plays episode 1, and the repetition of it episode 3.
TEST(PolicyEvaluatorTest, AGoalIsReachedWhenNewEpisodesReachItAsWell) {
  ExperimentRun run(scripted(1, [](int before) { return before == 3 ? 0.0F : 10.0F; }));
  run.run.wait_finished();
  EXPECT_NE(run.run.stop_reason().find("the mean reward of 1 episodes is 10"), std::string::npos);
  const auto results = run.evaluator().call<&PolicyEvaluator::results>();
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].mean, 0);
  EXPECT_EQ(results[1].mean, 10);
  EXPECT_EQ(run.evaluator().call<&PolicyEvaluator::best>().steps, results[1].steps);
}

TEST(PolicyEvaluatorTest, AStopEndsItInTheMiddleOfItsEpisodes) {
  Experiment endless = scripted(EnvironmentBatch::kMostSteps, [](int) { return 0.0F; });
  endless.evaluation.episodes = 100;
  ExperimentRun run(endless);
  run.run.runtime().stop(run.run.id("evaluator"), "enough");
  EXPECT_TRUE(run.run.runtime().join(run.run.id("evaluator"), after(std::chrono::seconds(20))));
  EXPECT_TRUE(run.run.failed().empty());
}

}  // namespace
}  // namespace lp
