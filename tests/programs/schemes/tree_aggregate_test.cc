// Spark MLlib's treeAggregate: the levels of its formula, and a sum that is the flat one.
#include "programs/schemes/tree_aggregate.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "nodes/parameters/leaf_server.h"
#include "programs/data/batches.h"
#include "programs/training/synchronous.h"
#include "tests/programs/training_run.h"

namespace lp {
namespace {

using test::digits_task;
using test::kSeed;
using test::training_of;
using test::TrainingRun;

TEST(TreeAggregate, LevelsAreThoseOfSpark) {
  using Levels = std::vector<int>;
  const std::tuple<int, int, Levels> cases[] = {
      {1, 2, {}},       {4, 2, {}},     {8, 2, {2}}, {9, 3, {3}},          {16, 2, {4}},    {16, 4, {8, 4}},
      {64, 3, {16, 4}}, {100, 2, {10}}, {7, 1, {}},  {1000, 3, {100, 10}}, {1000, 2, {31}}, {100, 4, {25, 6}}};
  for (const auto& [partitions, depth, levels] : cases) {
    EXPECT_EQ(aggregation_levels(partitions, depth), levels) << partitions << " partitions, depth " << depth;
  }
  EXPECT_THROW(aggregation_levels(0, 2), Error);
  EXPECT_THROW(aggregation_levels(4, 0), Error);
}

class TreeAggregateOf : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Paths, TreeAggregateOf, testing::Bool(),
                         [](const auto& one) { return one.param ? "Bytes" : "Direct"; });

TEST_P(TreeAggregateOf, TwoLevelsIsTheFlatSumAndTheServersGetOnePushOfEachOfTheLast) {
  const ServerTraining training = training_of(16, 40, 0.1F, 2);
  TrainingRun flat([&](Program& p) { return add_synchronous_training(p, digits_task(), training); }, GetParam());
  const Eigen::VectorXf expected = flat.result().values;
  TrainingRun tree([&](Program& p) { return add_tree_aggregate_training(p, digits_task(), training, 4); }, GetParam());
  const Eigen::VectorXf result = tree.result().values;
  EXPECT_LT((result - expected).norm() / expected.norm(), 1e-5);
  EXPECT_EQ(flat.statistics().applied, 2U * 40 * 16);
  EXPECT_EQ(tree.statistics().applied, 2U * 40 * 4);
  EXPECT_EQ(tree.statistics().updates, 2U * 40);
}

// Partition i goes into partition i mod P.
TEST_P(TreeAggregateOf, ALevelTakesThoseBelowInTurn) {
  TrainingRun run([](Program& p) { return add_tree_aggregate_training(p, digits_task(), training_of(16, 1), 4); },
                  GetParam());
  run.finish();
  const auto expect_turns = [&](const std::string& level, int nodes, std::uint32_t below) {
    for (std::uint32_t node = 0; const auto& one : run.run().client(GroupHandle<LeafServer>(level, nodes))) {
      for (std::uint32_t i = 0; i < below; ++i) {
        const bool its = i % static_cast<std::uint32_t>(nodes) == node;
        const auto its_clock = [&] { return one.call<&LeafServer::position>(0, 0, i).clock; };
        if (its) {
          EXPECT_EQ(its_clock(), 1U) << i << " at " << level << "/" << node;
        } else {
          EXPECT_THROW(its_clock(), Error) << i << " at " << level << "/" << node;
        }
      }
      ++node;
    }
  };
  expect_turns("leaf", 8, 16);
  expect_turns("level1", 4, 8);
}

// As the gradient, the loss that each worker hears of is that of all their examples.
TEST_P(TreeAggregateOf, TheLossIsSummedOverTheTree) {
  const auto model = digits_task().model();
  const Dataset data = digits_task().data(kSeed);
  const Dataset first = gather(data, Batches(static_cast<std::uint32_t>(data.examples()), 64, kSeed).batch(0));
  Eigen::VectorXf gradient;
  const double expected = model->loss(model->initialize(kSeed), first, gradient) / 64;
  TrainingRun run(
      [](Program& p) { return add_tree_aggregate_training(p, digits_task(), training_of(16, 1, 0.1F, 2), 4); },
      GetParam());
  run.finish();
  for (const auto& one : run.workers().all<&TrainingWorker::statistics>()) EXPECT_NEAR(one.loss, expected, 1e-5);
}

TEST_P(TreeAggregateOf, OneLevelReachesTheAccuracyOfSerialTraining) {
  TrainingRun run(
      [](Program& p) { return add_tree_aggregate_training(p, digits_task(), training_of(8, 1600, 0.1F, 2)); },
      GetParam());
  EXPECT_GE(run.accuracy(), test::serial_accuracy() - 0.01);
}

}  // namespace
}  // namespace lp
