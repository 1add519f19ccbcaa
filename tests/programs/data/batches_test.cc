#include "programs/data/batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "lp/base/error.h"

namespace lp {
namespace {

using Indices = std::vector<std::uint32_t>;

TEST(Batches, EveryEpochHasEachExampleOnceInANewOrder) {
  Batches batches(10, 4, 1);  // five batches are two epochs
  Indices drawn;
  for (std::uint64_t step = 0; step < 5; ++step) {
    const Indices batch = batches.batch(step);
    EXPECT_EQ(batch.size(), 4U);
    drawn.insert(drawn.end(), batch.begin(), batch.end());
  }
  Indices all(10);
  std::iota(all.begin(), all.end(), 0U);
  Indices first(drawn.begin(), drawn.begin() + 10);
  Indices second(drawn.begin() + 10, drawn.end());
  EXPECT_NE(first, second);
  std::sort(first.begin(), first.end());
  std::sort(second.begin(), second.end());
  EXPECT_EQ(first, all);
  EXPECT_EQ(second, all);
}

TEST(Batches, AreAFunctionOfSeedAndStep) {
  Batches batches(100, 32, 7);
  const Indices late = batches.batch(1'000'000);
  const Indices early = batches.batch(3);
  EXPECT_EQ(Batches(100, 32, 7).batch(1'000'000), late);
  EXPECT_EQ(Batches(100, 32, 7).batch(3), early);
  EXPECT_NE(Batches(100, 32, 8).batch(3), early);
}

TEST(Batches, ShardsInWorkerOrderAreTheBatch) {
  for (const std::uint32_t workers : {1U, 2U, 4U, 7U, 40U}) {
    Batches batches(100, 32, 1);
    Indices joined;
    for (std::uint32_t worker = 0; worker < workers; ++worker) {
      const Indices shard = batches.shard(5, worker, workers);
      EXPECT_GE(shard.size(), 32 / workers);
      EXPECT_LE(shard.size(), 32 / workers + 1);
      joined.insert(joined.end(), shard.begin(), shard.end());
    }
    EXPECT_EQ(joined, batches.batch(5)) << workers;
  }
}

TEST(Batches, ABatchMayBeLargerThanTheData) {
  Indices batch = Batches(3, 7, 1).batch(0);
  std::sort(batch.begin(), batch.begin() + 3);
  EXPECT_EQ(Indices(batch.begin(), batch.begin() + 3), (Indices{0, 1, 2}));
  EXPECT_EQ(batch.size(), 7U);
}

TEST(Batches, RefusesNothing) {
  EXPECT_THROW(Batches(0, 1, 1), Error);
  EXPECT_THROW(Batches(1, 0, 1), Error);
  EXPECT_THROW(Batches(1, 1, 1).shard(0, 2, 2), Error);
}

TEST(Batches, EpochsThatAreCutByThemselvesEndWithASmallerBatch) {
  Batches batches(10, 4, 1);
  EXPECT_EQ(batches.epoch_steps(), 3U);
  std::vector<std::uint32_t> orders[2];
  for (std::uint64_t step = 0; step < 6; ++step) {
    const std::vector<std::uint32_t> batch = batches.epoch_batch(step);
    EXPECT_EQ(batch.size(), step % 3 == 2 ? 2U : 4U);
    orders[step / 3].insert(orders[step / 3].end(), batch.begin(), batch.end());
  }
  EXPECT_NE(orders[0], orders[1]);
  for (std::vector<std::uint32_t>& order : orders) {
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  }
}

}  // namespace
}  // namespace lp
