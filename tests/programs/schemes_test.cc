// The guarantees of each scheme while it trains: convergence, waiting, bytes, equal replicas.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "programs/data/batches.h"
#include "programs/schemes/asynchronous.h"
#include "programs/schemes/bounded_delay.h"
#include "programs/schemes/feeding.h"
#include "programs/schemes/in_graph.h"
#include "programs/schemes/one_bit.h"
#include "programs/schemes/outer_product.h"
#include "programs/schemes/partitioned.h"
#include "programs/schemes/sliced.h"
#include "programs/schemes/softsync.h"
#include "programs/schemes/stale_synchronous.h"
#include "programs/training/synchronous.h"
#include "tests/programs/training_run.h"

namespace lp {
namespace {

using test::digits_task;
using test::hash_of_training;
using test::kSeed;
using test::model_size;
using test::training_of;
using test::TrainingRun;
using test::Watch;
using test::watched_task;

// ---- every scheme learns: within 1 % (compressed: 2 %) of serial SGD with the same examples

struct SchemeCase {
  std::string name;
  double within = 0.01;
  std::function<TrainingGraph(Program&, const LearningTask&, const ServerTraining&)> add;
};

#if defined(LP_SANITIZED)  // Sanitizers look for other errors. Most is learned by then, and staleness still shows.
constexpr int kSteps = 400;
constexpr double kLearned = 0.96;
constexpr double kBehind = 0.03;
#else
constexpr int kSteps = 1600;
constexpr double kLearned = 0.97;
constexpr double kBehind = 0;
#endif

class EveryScheme : public testing::TestWithParam<std::tuple<SchemeCase, bool>> {};

TEST_P(EveryScheme, ReachesTheAccuracyOfSerialTraining) {
  const SchemeCase& scheme = std::get<0>(GetParam());
  const bool serialize = std::get<1>(GetParam());
  const double expected = test::serial_accuracy(digits_task(), kSteps);
  ASSERT_GE(expected, kLearned);
  double sum = 0;  // over three runs: a test image is 0.3 %, and an asynchronous run is never twice the same
  for (int i = 0; i < 3; ++i) {
    sum += TrainingRun(
               [&](Program& program) { return scheme.add(program, digits_task(), training_of(4, kSteps, 0.1F, 2)); },
               serialize)
               .accuracy();
  }
  EXPECT_GE(sum / 3, expected - scheme.within - kBehind);
}

// BytePS with compressed partitions.
auto compressed(CompressionOptions compression) {
  return [compression](Program& p, const LearningTask& t, ServerTraining s) {
    s.compression = compression;
    return add_partitioned_training(p, t, s, {.bytes = 4000, .credit = 8000});
  };
}

const SchemeCase kSchemeCases[] = {
    {"Synchronous", 0.01,
     [](Program& p, const LearningTask& t, const ServerTraining& s) { return add_synchronous_training(p, t, s); }},
    {"Backup", 0.01,
     [](Program& p, const LearningTask& t, const ServerTraining& s) { return add_synchronous_training(p, t, s, 1); }},
    {"Asynchronous", 0.01,
     [](Program& p, const LearningTask& t, const ServerTraining& s) { return add_asynchronous_training(p, t, s); }},
    {"Downpour", 0.01,
     [](Program& p, const LearningTask& t, ServerTraining s) {
       s.rule = AdaGrad{.rate = 0.03F};
       return add_asynchronous_training(p, t, s, {.fetch_every = 2, .push_every = 2, .local_rate = 0.1F});
     }},
    {"OuterProduct", 0.01,
     [](Program& p, const LearningTask& t, ServerTraining s) {
       s.steps = s.steps * 4 / 3;  // three quarters of these are done
       return add_outer_product_training(p, t, s, {.units = {64, 24, 10}});
     }},
    {"BoundedDelay", 0.01,
     [](Program& p, const LearningTask& t, const ServerTraining& s) { return add_bounded_delay_training(p, t, s, 2); }},
    {"StaleSynchronous", 0.01,
     [](Program& p, const LearningTask& t, const ServerTraining& s) {
       return add_stale_synchronous_training(p, t, s, 2);
     }},
    // A mean of more gradients allows a proportionally higher rate.
    {"Softsync", 0.01,
     [](Program& p, const LearningTask& t, ServerTraining s) {
       s.rule = Sgd{.rate = 0.4F};
       return add_softsync_training(p, t, s, 1);
     }},
    {"Tree", 0.01,
     [](Program& p, const LearningTask& t, ServerTraining s) {
       s.rule = Sgd{.rate = 0.2F};
       return add_softsync_training(p, t, s, 2, 2);
     }},
    {"Partitioned", 0.01,
     [](Program& p, const LearningTask& t, const ServerTraining& s) {
       return add_partitioned_training(p, t, s, {.bytes = 1000, .credit = 2000});
     }},
    {"Sliced", 0.01,
     [](Program& p, const LearningTask& t, const ServerTraining& s) { return add_sliced_training(p, t, s); }},
    {"Feeding", 0.01,
     [](Program& p, const LearningTask& t, const ServerTraining& s) {
       return add_fed_training(p, t, s, synchronous_scheme(s));
     }},
    {"FeedingAsynchronous", 0.01,
     [](Program& p, const LearningTask& t, const ServerTraining& s) {
       return add_fed_training(p, t, s, asynchronous_scheme(s));
     }},
    {"OneBit", 0.02,
     [](Program& p, const LearningTask& t, const ServerTraining& s) { return add_one_bit_training(p, t, s); }},
    {"TopK", 0.02, compressed({.kind = Compression::top_k, .share = 0.1})},
    {"RandomK", 0.02, compressed({.kind = Compression::random_k, .share = 0.1})},
    {"Dither", 0.02, compressed({.kind = Compression::dither})},
};
INSTANTIATE_TEST_SUITE_P(Schemes, EveryScheme, testing::Combine(testing::ValuesIn(kSchemeCases), testing::Bool()),
                         [](const auto& one) {
                           return std::get<0>(one.param).name + (std::get<1>(one.param) ? "Bytes" : "Direct");
                         });

// ---- TensorFlow, backup workers

TEST(BackupWorkers, AStepDoesNotWaitForTheSlowestAndDropsWhatItSends) {
  Watch watch;
  watch.expect_workers(3);
  watch.hold_one_at(10);
  TrainingRun run(
      [&](Program& program) { return add_synchronous_training(program, watched_task(watch), training_of(3, 100), 1); });
  EXPECT_TRUE(watch.wait_for_others(90));  // one worker stands still at its gradient 10
  watch.release();
  run.finish();
  const ShardStatistics statistics = run.statistics();
  EXPECT_EQ(statistics.updates, 100U);
  EXPECT_EQ(statistics.applied, 200U);  // two of three in each step
  EXPECT_GE(statistics.dropped, 1U);
  EXPECT_EQ(statistics.staleness[0], 200U);  // none from older parameters
  std::uint64_t dropped = 0;
  for (const auto& one : run.workers().all<&TrainingWorker::statistics>()) dropped += one.dropped;
  EXPECT_EQ(dropped, statistics.dropped);
}

// ---- TensorFlow, in-graph

TEST(InGraph, OneClientIssuesEveryStepAndTheBitsAreThoseOfBetweenGraph) {
  const ServerTraining training = training_of(3, 100, 0.1F, 2);
  TrainingRun run([&](Program& program) { return add_in_graph_training(program, digits_task(), training); });
  EXPECT_EQ(parameters_hash(run.result().values), hash_of_training([&](Program& program) {
              return add_synchronous_training(program, digits_task(), training);
            }));
  ASSERT_EQ(run.workers().size(), 1U);
  EXPECT_EQ(run.workers()[0].call<&TrainingWorker::statistics>().steps, 100U);
  EXPECT_EQ(run.statistics().applied, 2U * 100);  // one push for each step and server
}

// ---- Multiverso, sync mode

// The parameters from which each worker's i-th gradient is computed.
class Gets {
 public:
  void add(const void* worker, const Eigen::VectorXf& parameters) {
    const std::lock_guard lock(mutex_);
    seen_[calls_[worker]++].insert(parameters_hash(parameters));
  }
  std::map<std::uint64_t, std::set<std::string>> seen() {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

 private:
  std::mutex mutex_;
  std::map<const void*, std::uint64_t> calls_;
  std::map<std::uint64_t, std::set<std::string>> seen_;
};

class NotingMlp final : public test::TestMlp {
 public:
  explicit NotingMlp(Gets& gets) : gets_(gets) {}
  double loss(const Eigen::VectorXf& parameters, const Dataset& batch, Eigen::VectorXf& gradient) const override {
    gets_.add(this, parameters);
    return TestMlp::loss(parameters, batch, gradient);
  }

 private:
  Gets& gets_;
};

TEST(Synchronous, EveryWorkersIthGetReturnsTheSameParameters) {
  Gets gets;
  LearningTask task = digits_task();
  task.model = [&gets] { return std::make_unique<NotingMlp>(gets); };
  TrainingRun run(
      [&](Program& program) { return add_synchronous_training(program, task, training_of(3, 100, 0.1F, 2)); });
  run.finish();
  ASSERT_EQ(gets.seen().size(), 100U);
  for (const auto& [get, parameters] : gets.seen()) EXPECT_EQ(parameters.size(), 1U) << get;
}

// ---- Downpour

TEST(Downpour, FetchesAndPushesEveryNSteps) {
  TrainingRun run([&](Program& program) {
    return add_asynchronous_training(program, digits_task(), training_of(2, 120), {.fetch_every = 5, .push_every = 4});
  });
  run.finish();
  EXPECT_EQ(run.statistics().applied, 2U * 60 / 4);
  for (const auto& worker : run.workers().all<&TrainingWorker::statistics>()) {
    EXPECT_EQ(worker.steps, 60U);
    EXPECT_EQ(worker.bytes_sent, 60 / 4 * model_size() * sizeof(float));
    EXPECT_EQ(worker.bytes_received, 60 / 5 * model_size() * sizeof(float));
  }
}

TEST(Downpour, BetweenFetchesItFollowsItsOwnGradientsAndPushesTheirSum) {
  TrainingRun run([&](Program& program) {
    return add_asynchronous_training(program, digits_task(), training_of(1, 50),
                                     {.fetch_every = 4, .push_every = 2, .local_rate = 0.05F});
  });
  const auto model = digits_task().model();
  const Dataset data = digits_task().data(kSeed);
  Batches batches(static_cast<std::uint32_t>(data.examples()), 64, kSeed);
  Eigen::VectorXf servers = model->initialize(kSeed);
  Eigen::VectorXf accrued = Eigen::VectorXf::Zero(model->size());
  Eigen::VectorXf own;
  Eigen::VectorXf gradient;
  for (std::uint64_t step = 0; step < 50; ++step) {
    if (step % 4 == 0) own = servers;
    model->loss(own, gather(data, batches.batch(step)), gradient);
    own -= 0.05F * (gradient / 64);
    accrued += gradient;
    if (step % 2 == 0) continue;
    servers -= 0.1F * (accrued / 128);
    accrued.setZero();
  }
  EXPECT_LT((run.result().values - servers).norm() / servers.norm(), 1e-5);
}

TEST(Downpour, WhatIsLeftAtTheEndIsPushed) {
  TrainingRun run([&](Program& program) {
    return add_asynchronous_training(program, digits_task(), training_of(1, 10), {.push_every = 4});
  });
  run.finish();
  EXPECT_EQ(run.statistics().applied, 3U);  // 4 + 4 + 2 steps
}

// ---- Parameter server, bounded delay

TEST(BoundedDelay, WithoutDelayItIsSynchronousBitForBit) {
  const ServerTraining training = training_of(3, 200, 0.1F, 2);
  EXPECT_EQ(
      hash_of_training(
          [&](Program& program) { return add_bounded_delay_training(program, digits_task(), training, 0); }),
      hash_of_training([&](Program& program) { return add_synchronous_training(program, digits_task(), training); }));
}

class Staleness : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Staleness, OfBoundedDelayTheFastestWaitsForAllOlderThanTheDelay) {
  Watch watch;
  watch.expect_workers(3);
  watch.hold_one_at(10);
  TrainingRun run([&](Program& program) {
    return add_bounded_delay_training(program, watched_task(watch), training_of(3, 60), GetParam());
  });
  EXPECT_TRUE(watch.wait_for_others(10 + GetParam() + 1));  // steps 0 to 10 + delay begin while 10 is not done
  EXPECT_EQ(watch.most_ended(), 10 + GetParam() + 1);
  watch.release();
  run.finish();
  EXPECT_EQ(watch.lead(), GetParam());
}

TEST_P(Staleness, OfStaleSynchronousTheFastestIsSoManyStepsAheadAtMost) {
  Watch watch;
  watch.expect_workers(3);
  watch.hold_one_at(10);
  TrainingRun run([&](Program& program) {
    return add_stale_synchronous_training(program, watched_task(watch), training_of(3, 180), GetParam());
  });
  EXPECT_TRUE(watch.wait_for_others(10 + GetParam() + 1));
  EXPECT_EQ(watch.most_ended(), 10 + GetParam() + 1);
  watch.release();
  run.finish();
  EXPECT_EQ(watch.lead(), GetParam());
}
INSTANTIATE_TEST_SUITE_P(Steps, Staleness, testing::Values(0U, 1U, 4U));

TEST(StaleSynchronous, TheCacheSavesFetches) {
  const auto received = [](std::uint64_t staleness) {
    TrainingRun run([&](Program& program) {
      return add_stale_synchronous_training(program, digits_task(), training_of(1, 100), staleness);
    });
    run.finish();
    return run.workers()[0].call<&TrainingWorker::statistics>().bytes_received;
  };
  const std::uint64_t rows = (model_size() + 15) / 16 * 16 * sizeof(float);
  EXPECT_EQ(received(0), 100 * rows);
  EXPECT_EQ(received(4), 20 * rows);  // a row of clock c serves the reads at c .. c + 4
}

TEST(StaleSynchronous, AWorkerSeesItsOwnUpdatesBetweenFetches) {
  const auto model = digits_task().model();
  const Eigen::VectorXf serial = train_serial(*model, digits_task().data(kSeed),
                                              {.steps = 100, .batch = 64, .seed = kSeed, .rule = Sgd{.rate = 0.1F}});
  for (const std::uint64_t staleness : {0U, 4U}) {
    TrainingRun run([&](Program& program) {
      return add_stale_synchronous_training(program, digits_task(), training_of(1, 100, 0.1F, 2), staleness);
    });
    EXPECT_LT((run.result().values - serial).norm() / serial.norm(), 1e-5) << "staleness " << staleness;
  }
}

// ---- Rudra

TEST(Softsync, UpdatesAfterWorkersOverSplitsGradients) {
  for (const auto& [splits, gradients] : {std::pair(1U, 4U), std::pair(2U, 2U), std::pair(4U, 1U)}) {
    TrainingRun run([splits = splits](Program& program) {
      return add_softsync_training(program, digits_task(), training_of(4, 100), splits);
    });
    run.finish();
    const ShardStatistics statistics = run.statistics();
    EXPECT_EQ(statistics.applied, 100U);
    EXPECT_EQ(statistics.updates, 100U / gradients);
  }
}

// After 102 gradients, two are left for the last update, which would take four.
TEST(Softsync, TheLastUpdateTakesWhatIsLeft) {
  for (const int leaves : {0, 2}) {
    TrainingRun run([leaves](Program& program) {
      return add_softsync_training(program, digits_task(), training_of(4, 102), 1, leaves);
    });
    run.finish();
    EXPECT_EQ(run.statistics().updates, 26U) << leaves << " leaves";
  }
}

TEST(Schemes, AnUpdateThatWouldNeverBeDoneIsRefusedWhenTheGraphIsBuilt) {
  for (const std::uint32_t backups : {4U, 5U, 400U}) {
    Program program("training");
    EXPECT_THROW(add_synchronous_training(program, digits_task(), training_of(4, 10), backups), Error) << backups;
  }
  for (const auto& [splits, leaves] : {std::pair(0U, 0), std::pair(5U, 0), std::pair(3U, 2)}) {
    Program program("training");
    EXPECT_THROW(add_softsync_training(program, digits_task(), training_of(4, 10), splits, leaves), Error) << splits;
  }
}

// ---- BigDL, CaffeOnSpark

TEST(Sliced, EveryWorkerOwnsASliceAndAllReplicasAreEqual) {
  const ServerTraining training = training_of(3, 100);
  TrainingRun run([&](Program& program) { return add_sliced_training(program, digits_task(), training); });
  run.finish();
  ASSERT_EQ(run.servers().size(), 3U);
  for (std::uint32_t slice = 0; slice < 3; ++slice) {
    const ShardVersions versions = run.servers()[slice].call<&ParameterServer::versions>(0, slice);
    EXPECT_EQ(versions.step, 100U);
    ASSERT_EQ(versions.ranges.size(), 1U);
    EXPECT_NEAR(static_cast<double>(versions.newest.size()), static_cast<double>(model_size()) / 3, 1);
  }
  const auto replicas = run.workers().all<&TrainingWorker::learned>();
  ASSERT_EQ(replicas[0].values.size(), static_cast<Eigen::Index>(model_size()));
  for (const Parameters& replica : replicas) EXPECT_EQ(replica.values, replicas[0].values);
  EXPECT_EQ(parameters_hash(run.result().values), hash_of_training([&](Program& program) {
              return add_synchronous_training(program, digits_task(), training);
            }));
}

// ---- CNTK

TEST(OneBit, AValueTravelsAsOneBit) {
  TrainingRun run(
      [&](Program& program) { return add_one_bit_training(program, digits_task(), training_of(2, 50), 64); });
  run.finish();
  const std::uint64_t words = (model_size() + 63) / 64;
  for (const auto& worker : run.workers().all<&TrainingWorker::statistics>()) {
    EXPECT_EQ(worker.bytes_sent, 50 * (words * 8 + words * 2 * sizeof(float)));
  }
}

}  // namespace
}  // namespace lp
