// A goal that ends a training before its last update: the last checkpoint has the parameters of the end, and a run that
// resumes it goes on from there.

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "launchers/test_run.h"
#include "lp/checkpoint/cut.h"
#include "programs/agents/dqn.h"
#include "programs/agents/impala.h"
#include "programs/agents/ppo.h"
#include "programs/environments/environments.h"
#include "programs/evolution/benchmark_functions.h"
#include "programs/evolution/episodes.h"
#include "programs/evolution/evolution.h"
#include "programs/evolution/evolution_strategy.h"
#include "programs/experiments/experiment.h"
#include "tests/directory.h"

namespace lp::test {
namespace {

// Every policy reaches it, in its first evaluation.
const PlayOptions kReached{.episodes = 2, .period = std::chrono::milliseconds(1), .goal = 0};

MakeEnvironment cart_pole() {
  return [] { return make_environment("cartpole"); };
}

Program training(const Agent& agent) {
  Program program("training");
  add_experiment(program, {.agent = agent,
                           .environment = cart_pole(),
                           .actors = 2,
                           .steps = 1'000'000'000,
                           .evaluation = kReached,
                           .checkpoint_every = 0});
  return program;
}

// The learner's updates at the end, and the run's reason.
struct Ended {
  std::uint64_t updates = 0;
  std::string reason{};
};

Ended ended(Program program, const std::filesystem::path& directory, const std::filesystem::path& resume = {}) {
  Ended out;
  LaunchOptions options;
  options.directory = directory;
  options.resume = resume;
  options.report = [&out](Run& run) {
    out.updates = run.client<ParameterSource>("learner").call<&ParameterSource::counts>().updates;
  };
  TestRun run(std::move(program), std::move(options));
  const RunResult& result = run.wait();
  EXPECT_TRUE(result.success) << result.cause.text();
  out.reason = result.reason;
  return out;
}

void expect_cut_at_end(const std::function<Program()>& make, const std::string& reason) {
  const Directory directory;
  const std::filesystem::path first = directory.path() / "first";
  const Ended end = ended(make(), first);
  EXPECT_NE(end.reason.find(reason), std::string::npos) << end.reason;
  EXPECT_GT(end.updates, 0U);
  const std::optional<Cut> cut = latest_cut(first);
  ASSERT_TRUE(cut.has_value());
  EXPECT_EQ(cut->step, end.updates);
  const std::filesystem::path second = directory.path() / "second";
  const Ended again = ended(make(), second, first);
  EXPECT_GE(again.updates, end.updates);
}

TEST(GoalCut, RoundsEndWithACheckpoint) {
  const auto agent = ppo({.policy = dense_network({4}, Unit::tanh), .value = dense_network({4}, Unit::tanh)});
  expect_cut_at_end([&] { return training(agent); }, "learner stopped the program: after ");
}

TEST(GoalCut, LearningFromAQueueEndsWithACheckpoint) {
  const auto agent = impala({.policy = dense_network({4}, Unit::tanh), .value = dense_network({4}, Unit::tanh)});
  expect_cut_at_end([&] { return training(agent); }, "the mean reward of 2 episodes is ");
}

TEST(GoalCut, LearningFromReplayEndsWithACheckpoint) {
  const auto agent = dqn({.network = dense_network({4}, Unit::tanh), .first_items = 100});
  expect_cut_at_end([&] { return training(agent); }, "the mean reward of 2 episodes is ");
}

TEST(GoalCut, ASearchByEvolutionEndsWithACheckpoint) {
  const auto make = [] {
    const EpisodeOptions episodes{.environment = cart_pole()};
    Program program("search");
    const auto graph = add_evolution(program, {.search = {.method = evolution_strategy({.pairs = 4}),
                                                          .objective = episode_objective(episodes),
                                                          .evaluations = 1'000'000'000,
                                                          .checkpoint_every = 0}});
    program.add<PolicyEvaluator>({.name = "evaluator"}, context, graph.learner, graph.metrics, episode_policy(episodes),
                                 episodes.environment, kReached);
    return program;
  };
  expect_cut_at_end(make, "the mean reward of 2 episodes is ");
}

TEST(GoalCut, ASearchThatReachesItsValueEndsWithACheckpoint) {
  const auto make = [] {
    Program program("search");
    add_evolution(program, {.search = {.method = evolution_strategy({.pairs = 4}),
                                       .objective = function_objective("sphere", 2),
                                       .evaluations = 1'000'000'000,
                                       .goal = -1e9,
                                       .checkpoint_every = 0}});
    return program;
  };
  expect_cut_at_end(make, "learner");
}

}  // namespace
}  // namespace lp::test
