// Hogwild: close to serial on a sparse convex problem, and the death of a worker loses no updates.
#include "programs/schemes/hogwild.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <vector>

#include "launchers/test_run.h"
#include "lp/base/random.h"
#include "nodes/shared_vector.h"
#include "programs/models/linear.h"
#include "programs/models/serial.h"
#include "tests/directory.h"
#include "tests/launchers/tools_for_test.h"
#include "tests/programs/training_run.h"

namespace lp {
namespace {

using test::digits_task;
using test::kSeed;
using test::training_of;
using test::TrainingRun;

Eigen::VectorXf vector_of(TrainingRun& run) {
  run.finish();
  const Array<float> values = run.run().client(Handle<SharedVector>("vector")).call<&SharedVector::values>();
  return Eigen::Map<const Eigen::VectorXf>(values.data(), static_cast<Eigen::Index>(values.size()));
}

// 4,000 examples of 500 inputs, 8 of which are not 0, labelled by a hidden vector.
Dataset sparse_examples() {
  constexpr Eigen::Index kInputs = 500;
  constexpr Eigen::Index kExamples = 4000;
  Random random(3, "examples");
  std::vector<double> hidden(kInputs);
  for (double& one : hidden) one = random.normal();
  Dataset out{Eigen::MatrixXf(), Eigen::VectorXi(kExamples), 2, Eigen::SparseMatrix<float>(kInputs, kExamples)};
  for (Eigen::Index example = 0; example < kExamples; ++example) {
    std::set<Eigen::Index> rows;
    while (rows.size() < 8) rows.insert(static_cast<Eigen::Index>(random.below(kInputs)));
    double score = 0;
    out.sparse.startVec(example);
    for (const Eigen::Index row : rows) {
      out.sparse.insertBack(row, example) = 1;
      score += hidden[static_cast<std::size_t>(row)];
    }
    out.labels(example) = score > 0 ? 1 : 0;
  }
  out.sparse.finalize();
  return out;
}

class Hogwild : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Paths, Hogwild, testing::Bool(),
                         [](const auto& one) { return one.param ? "Bytes" : "Direct"; });

TEST_P(Hogwild, OnASparseConvexProblemTheLossAfterAnEpochIsCloseToSerial) {
  const LearningTask task{.model = [] { return std::make_unique<LinearModel>(500, 2); },
                          .data = [](std::uint64_t) { return sparse_examples(); }};
  const Dataset data = sparse_examples();
  const auto model = task.model();
  const Eigen::VectorXf serial =
      train_serial(*model, data, {.steps = 1000, .batch = 4, .seed = kSeed, .rule = Sgd{.rate = 1}});
  ServerTraining training = training_of(4, 1000, 1);
  training.batch = 4;
  TrainingRun run([&](Program& p) { return add_hogwild_training(p, task, training); }, GetParam());
  const double first = evaluate(*model, model->initialize(kSeed), data).loss;
  const double expected = evaluate(*model, serial, data).loss;
  EXPECT_LT(expected, 0.7 * first);
  EXPECT_NEAR(evaluate(*model, vector_of(run), data).loss, expected, 0.05 * first);
}

TEST_P(Hogwild, OfOneWorkerIsSerial) {
  const auto model = digits_task().model();
  TrainingRun run([](Program& p) { return add_hogwild_training(p, digits_task(), training_of(1, 100)); }, GetParam());
  const Eigen::VectorXf serial = train_serial(*model, digits_task().data(kSeed),
                                              {.steps = 100, .batch = 64, .seed = kSeed, .rule = Sgd{.rate = 0.1F}});
  const Eigen::VectorXf result = vector_of(run);
  EXPECT_LT((result - serial).norm() / serial.norm(), 1e-5);
  EXPECT_EQ(result, run.result().values);
}

TEST_P(Hogwild, ReachesNearlyTheAccuracyOfSerialTraining) {
  TrainingRun run([](Program& p) { return add_hogwild_training(p, digits_task(), training_of(4, 1600)); }, GetParam());
  const double expected = test::serial_accuracy();
  EXPECT_GE(run.accuracy(), expected - 0.02);
  EXPECT_GE(evaluate(*digits_task().model(), vector_of(run), split(digits(), kSeed).test).accuracy, expected - 0.02);
}

// The first worker ends long before another.
TEST_P(Hogwild, WhatIsLearnedIsTheVectorWhenAllHaveEndedAndItsUpdatesAreThoseOfAll) {
  test::Watch watch;
  watch.expect_workers(3);
  watch.hold_one_at(5);
  TrainingRun run([&](Program& p) { return add_hogwild_training(p, test::watched_task(watch), training_of(3, 150)); },
                  GetParam());
  EXPECT_TRUE(watch.wait_for_others(50));
  watch.release();
  const Parameters learned = run.result();
  EXPECT_EQ(learned.step, 150U);
  const Eigen::VectorXf expected = vector_of(run);
  for (const Parameters& one : run.workers().all<&TrainingWorker::learned>()) EXPECT_EQ(one.values, expected);
}

TEST(HogwildFailures, AWorkerThatIsRestartedGoesOnAndOneThatIsKilledTakesNothingWithIt) {
  for (const bool for_good : {false, true}) {
    test::Watch watch;
    watch.expect_workers(3);
    TrainingRun run(
        [&](Program& p) { return add_hogwild_training(p, test::watched_task(watch), training_of(3, 1500)); });
    EXPECT_TRUE(watch.wait_for_others(25));
    const SharedVectorView view(run.run().client(Handle<SharedVector>("vector")).call<&SharedVector::location>());
    std::uint64_t before = 0;
    if (for_good) {
      test::kill_for_good(run.run(), {"worker/1"});
      before = view.progress(1);
    } else {
      run.run().restart({"worker/1"});
    }
    run.finish();
    EXPECT_EQ(view.progress(0), 500U);
    EXPECT_EQ(view.progress(2), 500U);
    EXPECT_EQ(view.progress(1), for_good ? before : 500U);
    EXPECT_GE(run.accuracy(), 0.9);
  }
}

// Its users change the memory of a vector that is no more until they notice, and those that had finished with it work
// again.
TEST(HogwildFailures, AVectorThatIsRestartedHasAllUpdatesInTheEnd) {
  for (const std::uint64_t steps : {200U, 500U}) {  // 500 is all of a worker's
    const test::Directory directory;
    test::Watch watch;
    watch.expect_workers(3);
    watch.hold_one_at(100);
    Program program("training");
    const TrainingGraph graph = add_hogwild_training(program, test::watched_task(watch), training_of(3, 1500));
    Parameters learned;
    TestRun run(std::move(program), {.directory = directory.path() / "run", .report = [&](lp::Run& ended) {
                                       learned = trained_parameters(ended.client(graph.servers),
                                                                    ended.client(graph.workers), 0);
                                     }});
    EXPECT_TRUE(watch.wait_for_others(steps));
    EXPECT_TRUE(test::restart_node(directory.path() / "run", "vector").find("is restarted") != std::string::npos);
    watch.release();
    EXPECT_TRUE(run.wait().success) << run.wait().cause.text();
    EXPECT_EQ(learned.step, 1500U);
    const auto model = digits_task().model();
    EXPECT_GE(evaluate(*model, learned.values, split(digits(), run.seed()).test).accuracy, 0.9);
  }
}

TEST(HogwildFailures, ARuleWithAStateIsRefused) {
  Program program("training");
  ServerTraining training = training_of(2, 10);
  training.rule = Momentum{};
  EXPECT_THROW(add_hogwild_training(program, digits_task(), training), Error);
}

}  // namespace
}  // namespace lp
