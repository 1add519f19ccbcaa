// Training without servers: Horovod's ring, local SGD, BMUF. The tests check the guarantees of each, and the failure of
// a worker.
#include "programs/schemes/replicas.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "programs/data/batches.h"
#include "programs/models/serial.h"
#include "programs/schemes/local_sgd.h"
#include "programs/schemes/ring.h"
#include "programs/training/synchronous.h"
#include "tests/programs/training_run.h"

namespace lp {
namespace {

using test::digits_task;
using test::kSeed;
using test::model_size;
using test::training_of;
using test::TrainingRun;

constexpr std::uint64_t kHead = 18;  // values of a replica beside its vectors

// Checks that all workers end with the same parameters. Returns their hash.
std::string hash_of(TrainingRun& run) {
  run.finish();
  const auto replicas = run.workers().all<&TrainingWorker::learned>();
  EXPECT_EQ(replicas[0].values.size(), static_cast<Eigen::Index>(model_size()));
  for (const Parameters& one : replicas) EXPECT_EQ(one.values, replicas[0].values);
  return parameters_hash(run.result().values);
}
std::string hash_of(const TrainingRun::Add& add) {
  TrainingRun run(add);
  return hash_of(run);
}

// ---- every scheme learns: within 1 % of serial SGD with the same examples

struct Case {
  std::string name;
  std::function<TrainingGraph(Program&, const LearningTask&, std::uint64_t steps)> add;
};
class EveryReplicaScheme : public testing::TestWithParam<std::tuple<Case, bool>> {};

TEST_P(EveryReplicaScheme, ReachesTheAccuracyOfSerialTraining) {
  const Case& scheme = std::get<0>(GetParam());
  const bool serialize = std::get<1>(GetParam());
  TrainingRun run([&](Program& program) { return scheme.add(program, digits_task(), 1600); }, serialize);
  EXPECT_GE(run.accuracy(), test::serial_accuracy() - 0.01);
}

const Case kCases[] = {
    {"Ring",
     [](Program& p, const LearningTask& t, std::uint64_t s) { return add_ring_training(p, t, training_of(4, s)); }},
    {"LocalSgd", [](Program& p, const LearningTask& t,
                    std::uint64_t s) { return add_local_sgd_training(p, t, training_of(4, s, 0.3F), 20); }},
    {"Bmuf", [](Program& p, const LearningTask& t,
                std::uint64_t s) { return add_bmuf_training(p, t, training_of(4, s, 0.15F), 5); }},
};
INSTANTIATE_TEST_SUITE_P(Schemes, EveryReplicaScheme, testing::Combine(testing::ValuesIn(kCases), testing::Bool()),
                         [](const auto& one) {
                           return std::get<0>(one.param).name + (std::get<1>(one.param) ? "Bytes" : "Direct");
                         });

// ---- Horovod

TEST(Ring, EachWorkerSendsTwiceNMinusOneNthsAStep) {
  TrainingRun run([](Program& program) { return add_ring_training(program, digits_task(), training_of(4, 20)); });
  hash_of(run);
  // The gradient and the number of its examples; and once the first parameters, by rank 0.
  const std::uint64_t values = model_size() + 1;
  std::uint64_t all = 0;
  for (const auto& one : run.workers().all<&TrainingWorker::statistics>()) {
    EXPECT_EQ(one.steps, 20U);
    all += one.bytes_sent;
  }
  const std::uint64_t first = 3 * (model_size() + kHead) * sizeof(float);
  EXPECT_EQ(all, first + 20 * 2 * 3 * values * sizeof(float));
}

TEST(Ring, AddedInTheOrderOfTheRanksItHasTheBitsOfParameterServers) {
  const ServerTraining training = training_of(3, 100);
  const auto ring = [&](Program& p) {
    return add_ring_training(p, digits_task(), training, {.allreduce = Allreduce::direct});
  };
  TrainingRun servers([&](Program& p) { return add_synchronous_training(p, digits_task(), training); });
  EXPECT_EQ(hash_of(ring), parameters_hash(servers.result().values));
}

TEST(Ring, TheFirstParametersAreThoseOfOneRank) {
  std::atomic<int> made = 0;
  LearningTask task = digits_task();
  task.model = [&made] { return std::make_unique<test::AnyMlp>(made); };
  hash_of([&](Program& program) { return add_ring_training(program, task, training_of(3, 5)); });
}

// Waits until the workers have computed this many gradients.
void wait_for_steps(test::Watch& watch, std::uint64_t steps) { EXPECT_TRUE(watch.wait_for_others(steps)); }

TEST(Elastic, AWorkerThatIsRestartedChangesNoBitAndAllGoOnFromTheLastCommit) {
  ServerTraining training = training_of(3, 200);
  training.rule = Adam{.rate = 0.01F};  // its state is part of a commit
  const std::string expected =
      hash_of([&](Program& program) { return add_ring_training(program, digits_task(), training); });
  for (const int victim : {0, 2}) {
    test::Watch watch;
    watch.expect_workers(3);
    TrainingRun run([&](Program& program) { return add_ring_training(program, test::watched_task(watch), training); });
    wait_for_steps(watch, 65);
    const std::string index = std::to_string(victim);
    run.run().restart({"worker/" + index, "collective/" + index});
    EXPECT_EQ(hash_of(run), expected);
    EXPECT_LE(watch.most_ended(), 200U + 30);  // a commit is taken every 10 steps
  }
}

TEST(Elastic, WithoutAWorkerTheOthersGoOnFromTheCommitAndShareItsBatches) {
  for (const std::string victim : {"0", "2"}) {
    test::Watch watch;
    watch.expect_workers(3);
    TrainingRun run(
        [&](Program& program) { return add_ring_training(program, test::watched_task(watch), training_of(3, 300)); });
    wait_for_steps(watch, 25);
    test::kill_for_good(run.run(), {"worker/" + victim, "collective/" + victim});
    run.finish();
    std::vector<Eigen::VectorXf> results;
    std::uint64_t examples = 0;
    for (const auto& one : run.workers().outcomes<&TrainingWorker::learned>()) {
      if (one) results.push_back(one.value().values);
    }
    for (const auto& one : run.workers().outcomes<&TrainingWorker::statistics>()) {
      if (one) examples += one.value().examples;
    }
    ASSERT_EQ(results.size(), 2U);
    EXPECT_EQ(results[0], results[1]);
    EXPECT_GT(examples, 64U * (300 - 40));  // nearly all: two thirds of them would be 200 batches
    EXPECT_GE(run.accuracy(), 0.93);
  }
}

// Local steps: their optimizers are part of a commit, too.
TEST(Elastic, ARestartBetweenTwoMeansOfTheModelsChangesNoBit) {
  ServerTraining training = training_of(3, 300);
  training.rule = Momentum{.rate = 0.02F};
  for (const bool blocks : {false, true}) {
    const auto add = [&](const LearningTask& task) {
      return [&, task](Program& program) {
        return blocks ? add_bmuf_training(program, task, training, 7)
                      : add_local_sgd_training(program, task, training, 7);
      };
    };
    const std::string expected = hash_of(add(digits_task()));
    test::Watch watch;
    watch.expect_workers(3);
    TrainingRun run(add(test::watched_task(watch)));
    wait_for_steps(watch, 40);
    run.run().restart({"worker/2", "collective/2"});
    EXPECT_EQ(hash_of(run), expected);
  }
}

// Records the examples that it was given: the task's first input is an example's number.
class Recorder {
 public:
  void note(const Dataset& batch) {
    const Eigen::VectorXf numbers = batch.features.row(0);
    const std::lock_guard lock(mutex_);
    ++batches_[{numbers.begin(), numbers.end()}];
  }
  std::map<std::vector<float>, int> batches() {
    const std::lock_guard lock(mutex_);
    return batches_;
  }

 private:
  std::mutex mutex_;
  std::map<std::vector<float>, int> batches_;
};
class RecordingMlp final : public test::TestMlp {
 public:
  RecordingMlp(test::Watch& watch, Recorder& recorder) : watched_(watch), recorder_(recorder) {}
  double loss(const Eigen::VectorXf& parameters, const Dataset& batch, Eigen::VectorXf& gradient) const override {
    recorder_.note(batch);
    return watched_.loss(parameters, batch, gradient);
  }

 private:
  const test::WatchedMlp watched_;
  Recorder& recorder_;
};

TEST(Elastic, WorkersThatTakeTurnsTakeOverTheBatchesOfOneThatIsLost) {
  constexpr std::uint64_t kBatches = 500;
  constexpr std::uint64_t kAgain = 4 * 25;  // a commit is taken every 10 steps, at the next mean
  for (const bool blocks : {false, true}) {
    test::Watch watch;
    watch.expect_workers(4);
    Recorder recorder;
    const LearningTask task{.model = [&] { return std::make_unique<RecordingMlp>(watch, recorder); },
                            .data =
                                [](std::uint64_t seed) {
                                  Dataset out = split(digits(), seed).train;
                                  out.features.row(0).setLinSpaced(0, static_cast<float>(out.examples() - 1));
                                  return out;
                                }};
    const ServerTraining training = training_of(4, kBatches, 0);
    TrainingRun run([&](Program& p) {
      return blocks ? add_bmuf_training(p, task, training, 7) : add_local_sgd_training(p, task, training, 7);
    });
    wait_for_steps(watch, 40);
    test::kill_for_good(run.run(), {"worker/3", "collective/3"});
    run.finish();

    const Dataset data = task.data(kSeed);
    Batches batches(static_cast<std::uint32_t>(data.examples()), 64, kSeed);
    std::map<std::vector<float>, int> trained = recorder.batches();
    int times = 0;
    for (std::uint64_t number = 0; number < kBatches + 2; ++number) {
      const Eigen::VectorXf numbers = gather(data, batches.batch(number)).features.row(0);
      const auto found = trained.find({numbers.begin(), numbers.end()});
      if (number < kBatches) {
        ASSERT_NE(found, trained.end()) << "batch " << number;
      }
      if (found == trained.end()) continue;
      times += found->second;
      trained.erase(found);
    }
    EXPECT_TRUE(trained.empty());  // no batch is beyond the last step
    EXPECT_LE(times, static_cast<int>(kBatches + 2 + kAgain));
  }
}

TEST(Elastic, WhenAllWorkersAreRestartedTheyGoOnFromTheLastCommit) {
  ServerTraining training = training_of(3, 200);
  training.rule = Adam{.rate = 0.01F};
  const std::string expected =
      hash_of([&](Program& program) { return add_ring_training(program, digits_task(), training); });
  test::Watch watch;
  watch.expect_workers(3);
  TrainingRun run([&](Program& program) { return add_ring_training(program, test::watched_task(watch), training); });
  wait_for_steps(watch, 65);
  run.run().restart({"worker/0", "worker/1", "worker/2", "collective/0", "collective/1", "collective/2"});
  EXPECT_EQ(hash_of(run), expected);
  for (const auto& one : run.workers().all<&TrainingWorker::statistics>()) EXPECT_LE(one.steps, 200U - 60);
}

// ---- SparkNet and BMUF, against the formula

// N local models, averaged every `every` steps: with BMUF's momentum and rate, if given, else by their mean.
Eigen::VectorXf simulated(int workers, std::uint64_t steps, std::uint64_t every, std::optional<BlockMomentum> block) {
  const auto model = digits_task().model();
  const Dataset data = digits_task().data(kSeed);
  Batches batches(static_cast<std::uint32_t>(data.examples()), 64, kSeed);
  std::vector<Eigen::VectorXf> local(static_cast<std::size_t>(workers), model->initialize(kSeed));
  Eigen::VectorXf global = local[0];
  Eigen::VectorXf begin = global;  // the beginning of a block
  Eigen::VectorXf change = Eigen::VectorXf::Zero(model->size());
  Eigen::VectorXf gradient;
  const auto n = static_cast<std::uint64_t>(workers);
  for (std::uint64_t step = 0; step < steps / n; ++step) {
    for (std::uint64_t k = 0; k < n; ++k) {
      model->loss(local[k], gather(data, batches.batch(step * n + k)), gradient);
      local[k] -= 0.1F * (gradient / 64);
    }
    if ((step + 1) % every != 0 && step + 1 != steps / n) continue;
    Eigen::VectorXf mean = local[0];
    for (std::uint64_t k = 1; k < n; ++k) mean += local[k];
    mean /= static_cast<float>(workers);
    if (block) {
      change = block->momentum * change + block->rate * (mean - begin);
      global += change;
      begin = global;
      if (block->nesterov) begin += block->momentum * change;
    } else {
      begin = global = mean;
    }
    for (Eigen::VectorXf& one : local) one = begin;
  }
  return global;
}

void expect_near(const Eigen::VectorXf& a, const Eigen::VectorXf& b) {
  ASSERT_EQ(a.size(), b.size());
  EXPECT_LT((a - b).norm() / b.norm(), 1e-5);
}

TEST(LocalSgd, TakesTheMeanOfTheModelsEveryTauSteps) {
  for (const std::uint64_t every : {7U, 50U}) {
    TrainingRun run([&](Program& p) { return add_local_sgd_training(p, digits_task(), training_of(3, 120), every); });
    hash_of(run);
    expect_near(run.result().values, simulated(3, 120, every, {}));
    // Each mean sends a model up and down; rank 0 sends the first parameters.
    const std::uint64_t means = (40 + every - 1) / every;
    std::uint64_t sent = 0;
    for (const auto& one : run.workers().all<&TrainingWorker::statistics>()) sent += one.bytes_sent;
    EXPECT_EQ(sent, (2 * (model_size() + kHead) + means * 4 * model_size()) * sizeof(float));
  }
}

TEST(Bmuf, FollowsItsFormula) {
  for (const bool nesterov : {false, true}) {
    TrainingRun run([&](Program& p) {
      return add_bmuf_training(p, digits_task(), training_of(4, 160), 10, {.rate = 0.9F, .nesterov = nesterov});
    });
    hash_of(run);
    expect_near(run.result().values,
                simulated(4, 160, 10, BlockMomentum{.momentum = 0.75F, .rate = 0.9F, .nesterov = nesterov}));
  }
}

TEST(Bmuf, OfOneWorkerIsPlainSgd) {
  TrainingRun run([](Program& p) { return add_bmuf_training(p, digits_task(), training_of(1, 60), 7); });
  const auto model = digits_task().model();
  expect_near(run.result().values, train_serial(*model, digits_task().data(kSeed),
                                                {.steps = 60, .batch = 64, .seed = kSeed, .rule = Sgd{.rate = 0.1F}}));
}

}  // namespace
}  // namespace lp
