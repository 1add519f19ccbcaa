// Workers that push to leaf servers, which push to the root servers.

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <memory>
#include <string>

#include "programs/schemes/asynchronous.h"
#include "programs/schemes/softsync.h"
#include "tests/programs/training_run.h"

namespace lp {
namespace {

using test::digits_task;
using test::training_of;
using test::TrainingRun;

TEST(Tree, RowsAndReplicasAreRefusedWhenTheGraphIsBuilt) {
  Scheme rows = asynchronous_scheme(training_of(4, 10));
  rows.levels = {2};
  Program program("training");
  EXPECT_THROW(add_server_training(program, digits_task(), training_of(4, 10), rows), Error);
  ServerTraining replicated = training_of(4, 10, 0.1F, 2);
  replicated.replicated = true;
  EXPECT_THROW(add_softsync_training(program, digits_task(), replicated, 1, 2), Error);
}

TEST(Tree, LeavesAreRestartedAsOftenAsServersAndWorkers) {
  ServerTraining training = training_of(4, 10);
  training.restarts = 3;
  Program program("training");
  add_softsync_training(program, digits_task(), training, 1, 2);
  ASSERT_EQ(program.groups().size(), 3U);
  for (const GroupSpec& group : program.groups()) {
    EXPECT_EQ(group.options.on_failure.action, FailurePolicy::Action::restart) << group.options.name;
    EXPECT_EQ(group.options.on_failure.budget, 3) << group.options.name;
  }
}

TEST(Tree, GoesOnWithoutAWorkerThatIsKilled) {
  test::Watch watch;
  watch.expect_workers(4);
  TrainingRun run([&](Program& program) {
    return add_softsync_training(program, test::watched_task(watch), training_of(4, 800), 1, 2);
  });
  EXPECT_TRUE(watch.wait_for_others(25));
  test::kill_for_good(run.run(), {"worker/2"});
  run.finish();
  for (const std::size_t k : {0U, 1U, 3U}) {
    EXPECT_EQ(run.workers()[k].call<&TrainingWorker::statistics>().steps, 200U);
  }
  EXPECT_EQ(run.statistics().applied, 400U);
}

// The gradient that brings the count to 0 is not finite.
class BrokenOnce final : public test::TestMlp {
 public:
  explicit BrokenOnce(std::atomic<int>& left) : left_(left) {}
  double loss(const Eigen::VectorXf& parameters, const Dataset& batch, Eigen::VectorXf& gradient) const override {
    const double loss = TestMlp::loss(parameters, batch, gradient);
    if (--left_ == 0) gradient[0] = std::numeric_limits<float>::quiet_NaN();
    return loss;
  }

 private:
  std::atomic<int>& left_;
};

TEST(Tree, OnlyTheWorkerOfABadGradientFailsAndIsNamed) {
  std::atomic<int> left = 40;
  LearningTask task = digits_task();
  task.model = [&left] { return std::make_unique<BrokenOnce>(left); };
  TrainingRun run([&](Program& program) { return add_softsync_training(program, task, training_of(4, 400), 1, 2); });
  run.run().wait_failed(1);
  const auto failed = run.run().failed();
  ASSERT_EQ(failed.size(), 1U);
  const auto& [name, error] = *failed.begin();
  const std::string expected = "the gradient of worker " + name.substr(name.size() - 1) + " is not finite";
  EXPECT_NE(error.text().find(expected), std::string::npos) << name << ": " << error.what();
  test::kill_for_good(run.run(), {name});
  run.run().wait_finished();
  EXPECT_EQ(run.run().failed().size(), 1U);
}

TEST(Tree, TheRootGetsOnePushForEachLeaf) {
  TrainingRun run(
      [&](Program& program) { return add_softsync_training(program, digits_task(), training_of(6, 120), 1, 2); });
  run.finish();
  EXPECT_EQ(run.statistics().applied, 120U / 3);
}

}  // namespace
}  // namespace lp
