// Work units: the sum is the serial one whichever replica computes it, and nobody waits for a replica that is slow or
// gone.
#include "programs/schemes/work_units.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tests/programs/training_run.h"

namespace lp {
namespace {

using test::digits_task;
using test::kSeed;
using test::training_of;
using test::TrainingRun;
using test::Watch;

TrainingRun::Add in_units(const ServerTraining& training, const LearningTask& task = digits_task(),
                          std::uint32_t units = 8) {
  return [=](Program& program) { return add_work_unit_training(program, task, training, units); };
}
std::string hash_of(const ServerTraining& training) {
  return parameters_hash(TrainingRun(in_units(training)).result().values);
}

class WorkUnits : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Paths, WorkUnits, testing::Bool(),
                         [](const auto& one) { return one.param ? "Bytes" : "Direct"; });

TEST_P(WorkUnits, AddUpToSerialTrainingAndToTheSameBitsForAnyNumberOfReplicas) {
  const Eigen::VectorXf serial = train_serial(*digits_task().model(), digits_task().data(kSeed),
                                              {.steps = 40, .batch = 64, .seed = kSeed, .rule = Sgd{.rate = 0.1F}});
  TrainingRun run(in_units(training_of(3, 40)), GetParam());
  const Eigen::VectorXf result = run.result().values;
  EXPECT_LT((result - serial).norm() / serial.norm(), 1e-5);
  EXPECT_EQ(parameters_hash(result), hash_of(training_of(1, 40)));
  EXPECT_EQ(run.statistics().updates, 40U);
}

TEST_P(WorkUnits, OfASlowReplicaAreComputedByABackup) {
  const std::string expected = hash_of(training_of(3, 40));
  Watch watch;
  watch.hold_one_at(5);
  TrainingRun run(in_units(training_of(3, 40), test::watched_task(watch)), GetParam());
  EXPECT_EQ(parameters_hash(run.result().values), expected);  // all units are computed while one is not back
  watch.release();
}

// The examples that each replica computed, in its order.
class UnitsSeen {
 public:
  void add(const void* replica, const Dataset& unit) {
    const std::lock_guard lock(mutex_);
    seen_[replica].push_back(unit.features);
  }
  std::vector<std::vector<Eigen::MatrixXf>> seen() {
    const std::lock_guard lock(mutex_);
    std::vector<std::vector<Eigen::MatrixXf>> out;
    for (const auto& [replica, units] : seen_) out.push_back(units);
    return out;
  }

 private:
  std::mutex mutex_;
  std::map<const void*, std::vector<Eigen::MatrixXf>> seen_;
};

class UnitsMlp final : public Model {
 public:
  UnitsMlp(UnitsSeen& units, Watch& watch) : mlp_(watch), units_(units) {}
  Eigen::Index size() const override { return mlp_.size(); }
  Eigen::VectorXf initialize(std::uint64_t seed) const override { return mlp_.initialize(seed); }
  Eigen::MatrixXf scores(const Eigen::VectorXf& parameters, const Eigen::MatrixXf& features) const override {
    return mlp_.scores(parameters, features);
  }
  double loss(const Eigen::VectorXf& parameters, const Dataset& batch, Eigen::VectorXf& gradient) const override {
    units_.add(this, batch);
    return mlp_.loss(parameters, batch, gradient);
  }

 private:
  test::WatchedMlp mlp_;
  UnitsSeen& units_;
};

TEST_P(WorkUnits, GetABackupOnlyWhenAllAreGivenOut) {
  UnitsSeen units;
  Watch watch;
  watch.hold_one_at(0);
  LearningTask task = digits_task();
  task.model = [&] { return std::make_unique<UnitsMlp>(units, watch); };
  TrainingRun run(in_units(training_of(2, 1), task), GetParam());
  run.finish();
  auto seen = units.seen();
  watch.release();
  ASSERT_EQ(seen.size(), 2U);
  if (seen[0].size() > seen[1].size()) std::swap(seen[0], seen[1]);
  ASSERT_EQ(seen[0].size(), 1U);
  ASSERT_EQ(seen[1].size(), 8U);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(seen[1][i] == seen[0][0], i == 7) << i;
}

TEST_P(WorkUnits, ReachTheAccuracyOfSerialTraining) {
  TrainingRun run(in_units(training_of(4, 1600)), GetParam());
  EXPECT_GE(run.accuracy(), test::serial_accuracy() - 0.01);
}

TEST(WorkUnitFailures, AReplicaThatIsKilledOrRestartedChangesNoBit) {
  const std::string expected = hash_of(training_of(3, 60));
  for (const bool for_good : {true, false}) {
    Watch watch;
    watch.expect_workers(3);
    TrainingRun run(in_units(training_of(3, 60), test::watched_task(watch)));
    EXPECT_TRUE(watch.wait_for_others(5));
    if (for_good) {
      test::kill_for_good(run.run(), {"replica/1"});
    } else {
      run.run().restart({"replica/1"});
    }
    EXPECT_EQ(parameters_hash(run.result().values), expected);
  }
}

TEST(WorkUnitFailures, AUnitThatIsLostWithItsBackupIsGivenToAnother) {
  const ServerTraining training = training_of(3, 400);
  const std::string expected = parameters_hash(TrainingRun(in_units(training, digits_task(), 1)).result().values);
  Watch watch;
  watch.expect_workers(2);
  TrainingRun run(in_units(training, test::watched_task(watch), 1));
  EXPECT_TRUE(watch.wait_for_others(5));
  test::kill_for_good(run.run(), {"replica/0", "replica/1"});
  EXPECT_EQ(parameters_hash(run.result().values), expected);
}

TEST(WorkUnitFailures, NoUnitsAreRefused) {
  Program program("training");
  EXPECT_THROW(add_work_unit_training(program, digits_task(), training_of(2, 10), 0), Error);
}

}  // namespace
}  // namespace lp
