// IMPALA over a queue: what it learns, and nodes that are restarted.
#include "programs/agents/impala.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "lp/checkpoint/cut.h"
#include "programs/environments/environments.h"
#include "tests/programs/experiments/experiment_run.h"

namespace lp {
namespace {

Experiment experiment_on(const std::string& environment, std::uint64_t steps) {
  return {.agent = impala(),
          .environment = [environment] { return make_environment(environment); },
          .steps = steps,
          .checkpoint_every = 10};
}

TEST(ImpalaTest, LearnsToCatchEveryBall) {
  ExperimentRun run(experiment_on("catch", 200'000));
  EXPECT_EQ(run.result().mean, 1);
}

TEST(ImpalaTest, ALearnerThatIsRestartedGoesOnFromItsCutAndCountsEachStepOnce) {
  const std::filesystem::path directory = ::testing::TempDir() + "lp_impala_cut";
  std::filesystem::remove_all(directory);
  Runtime::Options options = experiment_options();
  options.run.directory = directory;
  {
    ExperimentRun run(experiment_on("cartpole", 16'000), options);
    run.run.wait_saved(20, 1);
    run.run.restart({"learner", "queue"}, cut_directory(directory, 20));
    EXPECT_GE(run.learner().call<&ParameterSource::counts>().updates, 20U);
    const ExperimentResult result = run.result();
    EXPECT_EQ(result.updates, 100U);
    EXPECT_EQ(result.steps, 16'000U);
  }
  std::filesystem::remove_all(directory);
}

TEST(ImpalaTest, AnActorThatIsRestartedGoesOn) {
  ExperimentRun run(experiment_on("cartpole", 16'000));
  for (int i = 0; i < 3; ++i) run.run.restart({"actor/" + std::to_string(i % 2)});
  EXPECT_EQ(run.result().updates, 100U);
}

TEST(ImpalaLong, ReachesFourHundredAndSeventyFiveInCartPoleWithFiveSeeds) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Experiment experiment = experiment_on("cartpole", 1'000'000);
    experiment.evaluation.goal = 475;
    ExperimentRun run(experiment, experiment_options(seed));
    EXPECT_GE(run.result().mean, 475) << "seed " << seed;
  }
}

}  // namespace
}  // namespace lp
