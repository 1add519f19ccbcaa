// A run that resumes another goes on from its saved state, in the schemes without servers, too.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "launchers/run.h"
#include "lp/checkpoint/cut.h"
#include "programs/schemes/gossip.h"
#include "programs/schemes/hogwild.h"
#include "programs/schemes/local_sgd.h"
#include "programs/schemes/pipeline.h"
#include "programs/schemes/ring.h"
#include "tests/directory.h"
#include "tests/programs/training_run.h"

namespace lp {
namespace {

using test::digits_task;

struct Learned {
  std::uint64_t updates = 0;
  std::string hash{};
  std::vector<std::uint64_t> steps{};  // for each worker, in this run
};

struct ServerlessCase {
  std::string name;
  OptimizerRule rule;
  int workers;
  std::function<TrainingGraph(Program&, const ServerTraining&)> add;
};

class Resumed : public testing::TestWithParam<ServerlessCase> {
 protected:
  // Trains in a directory of this name, from the saved state of the other run.
  Learned train(std::uint64_t steps, const std::string& name, const std::string& from = "") {
    Program program("training");
    const TrainingGraph graph = GetParam().add(
        program, {.workers = GetParam().workers, .steps = steps, .rule = GetParam().rule, .checkpoint_every = 10});
    Learned learned;
    LaunchOptions options;
    options.seed = test::kSeed;
    options.directory = directory_.path() / name;
    if (!from.empty()) options.resume = directory_.path() / from;
    options.report = [&](lp::Run& run) {
      const auto workers = run.client(graph.workers);
      const Parameters parameters =
          trained_parameters(run.client(graph.servers), workers, digits_task().model()->size());
      learned = {.updates = parameters.step, .hash = parameters_hash(parameters.values)};
      for (const auto& one : workers.all<&TrainingWorker::statistics>()) learned.steps.push_back(one.steps);
    };
    lp::Run run(std::move(program), options);
    EXPECT_TRUE(run.wait().success) << run.wait().cause.text();
    return learned;
  }
  // Acts as if the run had been killed after an earlier cut.
  void lose_last_cut(const std::string& name) {
    remove_cut(directory_.path() / name, latest_cut(directory_.path() / name)->step);
  }

 private:
  const test::Directory directory_;
};

// Training goes on with its whole state: bit for bit, where a scheme is deterministic.
TEST_P(Resumed, WithMoreStepsItDoesThose) {
  const auto workers = static_cast<std::uint64_t>(GetParam().workers);
  const Learned whole = train(80 * workers, "whole");
  const Learned half = train(40 * workers, "half");
  const Learned resumed = train(80 * workers, "resumed", "half");
  EXPECT_EQ(resumed.hash, whole.hash);
  EXPECT_EQ(resumed.updates, whole.updates);
  for (std::size_t k = 0; k < whole.steps.size(); ++k) EXPECT_EQ(resumed.steps[k], whole.steps[k] - half.steps[k]);
}

TEST_P(Resumed, FromACutInItsMiddleItDoesTheRestAgain) {
  const auto workers = static_cast<std::uint64_t>(GetParam().workers);
  const Learned whole = train(41 * workers, "whole");
  lose_last_cut("whole");
  const Learned resumed = train(41 * workers, "resumed", "whole");
  EXPECT_EQ(resumed.hash, whole.hash);
  EXPECT_EQ(resumed.updates, whole.updates);
  for (std::size_t k = 0; k < whole.steps.size(); ++k) {
    EXPECT_GT(resumed.steps[k], 0U);
    EXPECT_LT(resumed.steps[k], whole.steps[k]);
  }
}

TEST_P(Resumed, WithoutMoreStepsItHasTheSameResult) {
  const auto workers = static_cast<std::uint64_t>(GetParam().workers);
  const Learned whole = train(41 * workers, "whole");
  const Learned again = train(41 * workers, "again", "whole");
  EXPECT_EQ(again.hash, whole.hash);
  EXPECT_EQ(again.updates, whole.updates);
  for (const std::uint64_t steps : again.steps) EXPECT_EQ(steps, 0U);
}

const ServerlessCase kServerlessCases[] = {
    {"Ring", Adam{.rate = 0.01F}, 3,
     [](Program& p, const ServerTraining& t) { return add_ring_training(p, digits_task(), t); }},
    {"LocalSgd", Momentum{.rate = 0.05F}, 3,
     [](Program& p, const ServerTraining& t) { return add_local_sgd_training(p, digits_task(), t, 5); }},
    {"Bmuf", Momentum{.rate = 0.05F}, 3,
     [](Program& p, const ServerTraining& t) { return add_bmuf_training(p, digits_task(), t, 5); }},
    // There is one worker: several have other bits every time.
    {"Gossip", Momentum{.rate = 0.05F}, 1,
     [](Program& p, const ServerTraining& t) { return add_gossip_training(p, digits_task(), t); }},
    {"Hogwild", Sgd{.rate = 0.1F}, 1,
     [](Program& p, const ServerTraining& t) { return add_hogwild_training(p, digits_task(), t); }},
    {"Pipeline", Adam{.rate = 0.01F}, 1,
     [](Program& p, const ServerTraining& t) {
       return add_pipeline_training(p, digits_task(), t, {.units = {64, 24, 10}, .stages = 2});
     }},
};
INSTANTIATE_TEST_SUITE_P(Schemes, Resumed, testing::ValuesIn(kServerlessCases),
                         [](const auto& one) { return one.param.name; });

class ResumedTogether : public Resumed {};

TEST_P(ResumedTogether, EachWorkerGoesOnWhereItWas) {
  const Learned half = train(160, "half");
  const Learned resumed = train(320, "resumed", "half");
  for (const std::uint64_t steps : half.steps) EXPECT_EQ(steps, 40U);
  for (const std::uint64_t steps : resumed.steps) EXPECT_EQ(steps, 40U);
}

const ServerlessCase kTogether[] = {
    {"Gossip", Momentum{.rate = 0.05F}, 4,
     [](Program& p, const ServerTraining& t) { return add_gossip_training(p, digits_task(), t); }},
    {"Hogwild", Sgd{.rate = 0.1F}, 4,
     [](Program& p, const ServerTraining& t) { return add_hogwild_training(p, digits_task(), t); }},
};
INSTANTIATE_TEST_SUITE_P(Schemes, ResumedTogether, testing::ValuesIn(kTogether),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace lp
