// The guarantees of each consistency model, on one shard: no node, no timing.
#include "nodes/parameters/shard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/random.h"
#include "tests/error_of.h"

namespace lp {
namespace {

constexpr std::uint64_t kKeys = 5;

Array<float> values_of(std::vector<float> values) { return Array<float>::copy_of(values); }
Array<std::uint64_t> keys_of(std::vector<std::uint64_t> keys) { return Array<std::uint64_t>::copy_of(keys); }
std::vector<float> list(const Array<float>& values) { return {values.begin(), values.end()}; }

// A shard of one parameter, whose rule adds: so the value is the sum of the applied gradients.
Shard counter(const Consistency& consistency, std::uint32_t workers) {
  return Shard(KeyIndex(std::vector<KeyRange>{{0, 0}}), Array<float>(1),
               {.rule = Sum{}, .consistency = consistency, .workers = workers});
}

Push push_of(std::uint32_t worker, std::uint64_t clock, std::uint64_t version, float value) {
  Push push;
  push.stamp = {.worker = worker, .clock = clock, .version = version};
  push.values = plain(values_of({value}));
  return push;
}

float value_of(const Shard& shard) { return shard.read({}).values[0]; }

// ---- TensorFlow, synchronous replicas with backup workers

TEST(SynchronousShard, AnUpdateTakesTheFirstGradientsAndDropsTheLateOnes) {
  Shard shard = counter(Synchronous{.backups = 1}, 3);
  EXPECT_EQ(shard.push(push_of(2, 0, 0, 1)), PushOutcome::accepted);
  EXPECT_EQ(shard.version(), 0U);
  EXPECT_EQ(shard.push(push_of(0, 0, 0, 10)), PushOutcome::accepted);
  EXPECT_EQ(shard.version(), 1U);  // two of three
  EXPECT_EQ(value_of(shard), 11);
  EXPECT_EQ(shard.push(push_of(1, 0, 0, 100)), PushOutcome::dropped);
  EXPECT_EQ(value_of(shard), 11);
  EXPECT_EQ(shard.version(), 1U);
  EXPECT_EQ(shard.push(push_of(1, 1, 1, 1000)), PushOutcome::accepted);  // it goes on from the new version
  EXPECT_EQ(shard.push(push_of(2, 1, 1, 1000)), PushOutcome::accepted);
  EXPECT_EQ(value_of(shard), 2011);
  EXPECT_EQ(shard.statistics().dropped, 1U);
  EXPECT_EQ(shard.statistics().applied, 4U);
  EXPECT_EQ(shard.statistics().updates, 2U);
}

TEST(SynchronousShard, APushAfterTheLastStepIsDroppedAlsoWhenItComesAgain) {
  Shard shard = counter(Synchronous{.backups = 1, .steps = 1}, 2);
  EXPECT_EQ(shard.push(push_of(0, 0, 0, 1)), PushOutcome::accepted);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(shard.push(push_of(1, 1, 1, 10)), PushOutcome::dropped);
  EXPECT_EQ(shard.version(), 1U);
  EXPECT_EQ(value_of(shard), 1);
}

TEST(SynchronousShard, WhoIsBehindWaitsNeitherForThoseThatLeftNorForOneThatDied) {
  Shard shard = counter(Synchronous{.backups = 1}, 4);
  shard.leave(0);
  shard.leave(1);  // worker 2 has died unnoticed
  EXPECT_EQ(shard.push(push_of(3, 0, 0, 1)), PushOutcome::accepted);
  EXPECT_EQ(shard.version(), 1U);
}

TEST(SynchronousShard, AveragesOverTheExamplesOfThoseThatWereTaken) {
  Shard shard(KeyIndex(std::vector<KeyRange>{{0, 0}}), Array<float>(1),
              {.rule = Sgd{.rate = 1}, .consistency = Synchronous{.backups = 1}, .workers = 3});
  Push push = push_of(0, 0, 0, 6);
  push.examples = 2;
  shard.push(push);
  push = push_of(1, 0, 0, 3);
  push.examples = 1;
  shard.push(push);
  EXPECT_EQ(value_of(shard), -3);  // (6 + 3) / (2 + 1)
}

TEST(SynchronousShard, AllWorkersAreReleasedByTheSameUpdate) {
  Shard shard = counter(Synchronous{}, 2);
  shard.push(push_of(0, 0, 0, 1));
  EXPECT_FALSE(shard.readable(1));
  shard.push(push_of(1, 0, 0, 1));
  EXPECT_TRUE(shard.readable(1));
  EXPECT_FALSE(shard.readable(2));
}

TEST(SynchronousShard, AWorkerWithoutExamplesTakesPart) {
  Shard shard(KeyIndex(std::vector<KeyRange>{{0, 0}}), Array<float>(1), {.rule = Sgd{.rate = 1}, .workers = 2});
  Push push = push_of(0, 0, 0, 0);
  shard.push(push);
  push = push_of(1, 0, 0, 8);
  push.examples = 4;
  shard.push(push);
  EXPECT_EQ(value_of(shard), -2);
  shard.push(push_of(0, 1, 1, 0));  // no worker has any
  shard.push(push_of(1, 1, 1, 0));
  EXPECT_EQ(value_of(shard), -2);
  EXPECT_EQ(shard.version(), 2U);
}

TEST(SynchronousShard, NobodyWaitsForWhoHasLeft) {
  Shard shard = counter(Synchronous{}, 3);
  shard.push(push_of(0, 0, 0, 1));
  shard.push(push_of(1, 0, 0, 2));
  EXPECT_EQ(shard.version(), 0U);
  shard.leave(2);
  EXPECT_EQ(shard.version(), 1U);
  shard.push(push_of(2, 1, 1, 4));  // it comes back
  shard.push(push_of(0, 1, 1, 1));
  EXPECT_EQ(shard.version(), 1U);
  shard.push(push_of(1, 1, 1, 1));
  EXPECT_EQ(value_of(shard), 9);
}

// ---- TensorFlow asynchronous, Downpour

TEST(AsynchronousShard, AppliesOnArrivalAndMeasuresStaleness) {
  Shard shard = counter(Asynchronous{}, 3);
  // Three workers take turns: each reads, and two others push before it does.
  std::vector<std::uint64_t> read{0, 0, 0};
  for (std::uint64_t i = 0; i < 30; ++i) {
    const auto worker = static_cast<std::uint32_t>(i % 3);
    EXPECT_EQ(shard.push(push_of(worker, i / 3, read[worker], 1)), PushOutcome::accepted);
    EXPECT_EQ(value_of(shard), static_cast<float>(i + 1));
    EXPECT_TRUE(shard.readable(1000));
    read[worker] = shard.version();
  }
  EXPECT_NEAR(shard.statistics().mean_staleness(), 2, 0.11);  // workers − 1, except in the first round
  EXPECT_EQ(shard.statistics().staleness[2], 28U);
}

TEST(AsynchronousShard, ADuplicateIsRejectedByTheWorkersClock) {
  Shard shard = counter(Asynchronous{}, 2);
  shard.push(push_of(0, 0, 0, 1));
  shard.push(push_of(0, 1, 1, 1));
  EXPECT_EQ(shard.push(push_of(0, 1, 1, 1)), PushOutcome::duplicate);
  EXPECT_EQ(shard.push(push_of(0, 0, 0, 1)), PushOutcome::duplicate);
  EXPECT_EQ(shard.push(push_of(1, 0, 0, 1)), PushOutcome::accepted);  // each worker has its own clock
  EXPECT_EQ(value_of(shard), 3);
  EXPECT_EQ(shard.statistics().duplicates, 2U);
  EXPECT_EQ(shard.clock(0), 2U);
}

// ---- Parameter server, bounded delay

TEST(BoundedDelayShard, ATaskWaitsForAllThatAreOlderThanTheDelay) {
  for (const std::uint64_t delay : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{3}, kUnbounded}) {
    Shard shard = counter(BoundedDelay{.delay = delay}, 2);
    for (std::uint64_t done = 0; done < 6; ++done) {  // tasks 0 .. done − 1 of both workers are done
      EXPECT_EQ(shard.version(), done);
      for (std::uint64_t task = 0; task < 12; ++task) {
        EXPECT_EQ(shard.readable(task), delay == kUnbounded || task <= done + delay) << task << " after " << done;
      }
      shard.push(push_of(0, done, 0, 1));
      EXPECT_EQ(shard.version(), done);
      shard.push(push_of(1, done, 0, 1));
    }
  }
}

TEST(BoundedDelayShard, UpdatesAreDoneInTheOrderOfTheTasks) {
  Shard shard = counter(BoundedDelay{.delay = 5}, 2);
  for (std::uint64_t task = 0; task < 4; ++task)
    shard.push(push_of(0, task, 0, std::pow(10.0F, static_cast<float>(task))));
  EXPECT_EQ(value_of(shard), 0);
  shard.push(push_of(1, 0, 0, 0));
  EXPECT_EQ(value_of(shard), 1);  // task 0 alone
  shard.push(push_of(1, 1, 0, 0));
  EXPECT_EQ(value_of(shard), 11);
  EXPECT_EQ(shard.version(), 2U);
}

TEST(BoundedDelayShard, WhatWaitsIsBounded) {
  Shard shard = counter(BoundedDelay{.delay = kUnbounded}, 2);
  EXPECT_TRUE(shard.readable(1024));
  EXPECT_FALSE(shard.readable(1025));  // a worker that reads before it pushes is never too far ahead
  try {
    for (std::uint64_t task = 0; task < 2000; ++task) shard.push(push_of(0, task, 0, 1));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::overloaded);
    EXPECT_NE(error.text().find("clock 0"), std::string::npos) << error.what();
  }
  for (std::uint64_t task = 0; task < 1025; ++task) shard.push(push_of(1, task, 0, 1));
  EXPECT_EQ(value_of(shard), 2050);  // nothing was lost
}

// ---- Petuum, stale synchronous parallel

TEST(StaleSynchronousShard, ReadsSeeAllUpdatesUpToClockMinusStalenessMinusOne) {
  for (const std::uint64_t staleness : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{3}}) {
    Shard shard = counter(StaleSynchronous{.staleness = staleness}, 3);
    Random random(staleness, "order");
    std::vector<std::uint64_t> clocks(3);
    for (int i = 0; i < 300; ++i) {
      const auto worker = static_cast<std::uint32_t>(random.below(3));
      const std::uint64_t slowest = *std::min_element(clocks.begin(), clocks.end());
      const std::uint64_t fastest = *std::max_element(clocks.begin(), clocks.end());
      EXPECT_LE(fastest - slowest, staleness + 1);  // for finished steps; the steps begun differ by staleness at most
      // All updates stamped ≤ c − s − 1 are there if every worker has done c − s steps.
      const std::uint64_t clock = clocks[worker];
      EXPECT_EQ(shard.readable(clock), clock <= staleness || slowest >= clock - staleness);
      if (!shard.readable(clock)) continue;
      EXPECT_GE(value_of(shard), 3.0F * static_cast<float>(clock > staleness ? clock - staleness : 0));
      EXPECT_EQ(shard.read({}).slowest, slowest);
      shard.push(push_of(worker, clocks[worker]++, shard.version(), 1));
    }
    EXPECT_EQ(value_of(shard), static_cast<float>(clocks[0] + clocks[1] + clocks[2]));
  }
}

TEST(StaleSynchronousShard, WhoHasLeftStopsNobody) {
  Shard shard = counter(StaleSynchronous{.staleness = 0}, 2);
  shard.push(push_of(0, 0, 0, 1));
  EXPECT_FALSE(shard.readable(1));
  shard.leave(1);
  EXPECT_TRUE(shard.readable(1));
}

// ---- Rudra, n-softsync

TEST(SoftsyncShard, AnUpdateTakesWorkersOverSplitsGradients) {
  Shard shard = counter(Softsync{.splits = 2}, 5);  // ⌊5 / 2⌋ = 2
  shard.push(push_of(0, 0, 0, 1));
  EXPECT_EQ(shard.version(), 0U);
  shard.push(push_of(0, 1, 0, 1));  // from any workers
  EXPECT_EQ(shard.version(), 1U);
  shard.push(push_of(3, 0, 0, 1));
  shard.push(push_of(4, 0, 0, 1));
  EXPECT_EQ(shard.version(), 2U);
}

TEST(SoftsyncShard, AGradientIsDividedByItsStaleness) {
  Shard shard = counter(Softsync{.splits = 4}, 4);
  for (std::uint64_t i = 0; i < 4; ++i) shard.push(push_of(0, i, i, 0));
  EXPECT_EQ(shard.version(), 4U);
  shard.push(push_of(1, 0, 0, 8));  // from 4 updates ago
  EXPECT_EQ(value_of(shard), 2);
  shard.push(push_of(2, 0, 4, 8));  // from 1 update ago
  EXPECT_EQ(value_of(shard), 10);
  shard.push(push_of(3, 0, 6, 8));  // from the present parameters
  EXPECT_EQ(value_of(shard), 18);
}

TEST(SoftsyncShard, WhatIsLeftWhenAllHaveLeftIsAnUpdate) {
  Shard shard = counter(Softsync{.splits = 1}, 3);
  shard.push(push_of(0, 0, 0, 1));
  shard.push(push_of(1, 0, 0, 2));
  for (const std::uint32_t worker : {0U, 1U, 2U}) {
    EXPECT_EQ(shard.version(), 0U);
    shard.leave(worker);
  }
  EXPECT_EQ(shard.version(), 1U);
  EXPECT_EQ(value_of(shard), 3);
}

// ---- keys, rows, rules

ShardOptions adding(std::uint32_t workers, std::uint32_t width = 1) {
  return {.rule = Sum{}, .consistency = Synchronous{}, .workers = workers, .width = width};
}
Push rows_of(std::uint32_t worker, std::uint64_t version, std::vector<std::uint64_t> keys, std::vector<float> values) {
  Push push;
  push.stamp = {.worker = worker, .clock = version, .version = version};
  push.keys.list = keys_of(std::move(keys));
  push.values = plain(values_of(std::move(values)));
  return push;
}

TEST(SparseShard, RowsComeWithTheFirstPush) {
  Shard shard(KeyIndex(), {}, adding(1, 2));
  shard.push(rows_of(0, 0, {7, 9}, {1, 2, 3, 4}));
  shard.push(rows_of(0, 1, {5, 9}, {5, 6, 10, 10}));
  KeySet some;
  some.list = keys_of({5, 6, 7, 9});
  EXPECT_EQ(list(shard.read(some).values), (std::vector<float>{5, 6, 0, 0, 1, 2, 13, 14}));
  const Reply all = shard.read({});
  EXPECT_EQ(all.keys, keys_of({5, 7, 9}));
  EXPECT_EQ(list(all.values), (std::vector<float>{5, 6, 1, 2, 13, 14}));
  EXPECT_EQ(list(shard.read({.range = {6, 8}}).values), (std::vector<float>{1, 2}));
}

TEST(SparseShard, GradientsOfDifferentKeysAreOneUpdate) {
  Shard shard(KeyIndex(), {}, {.rule = Momentum{.rate = 1, .decay = 0.5F}, .workers = 3});
  shard.push(rows_of(2, 0, {1, 3}, {1, 1}));
  shard.push(rows_of(0, 0, {2, 3}, {10, 10}));
  shard.push(rows_of(1, 0, {1, 2, 3}, {100, 100, 100}));
  KeySet all;
  all.list = keys_of({1, 2, 3});
  EXPECT_EQ(list(shard.read(all).values), (std::vector<float>{-101, -110, -111}));
  EXPECT_EQ(shard.statistics().updates, 1U);
}

TEST(SparseShard, ManyKeysKeepTheirValues) {
  Shard shard(KeyIndex(), {}, adding(1));
  std::map<std::uint64_t, float> model;
  Random random(5, "rows");
  for (std::uint64_t step = 0; step < 100; ++step) {
    std::map<std::uint64_t, float> rows;
    for (int i = 0; i < 50; ++i) rows[random.below(1000) << 50] = static_cast<float>(random.below(100));
    std::vector<std::uint64_t> keys;
    std::vector<float> values;
    for (const auto& [key, value] : rows) {
      keys.push_back(key);
      values.push_back(value);
      model[key] += value;
    }
    shard.push(rows_of(0, step, keys, values));
  }
  const Reply all = shard.read({});
  ASSERT_EQ(all.keys.size(), model.size());
  std::size_t i = 0;
  for (const auto& [key, value] : model) {
    EXPECT_EQ(all.keys[i], key);
    EXPECT_EQ(all.values[i++], value);
  }
}

TEST(DenseShard, ARangeOrAListIsAPartOfIt) {
  Shard shard(KeyIndex(std::vector<KeyRange>{{10, 14}}), Array<float>(kKeys), adding(1));
  Push push = rows_of(0, 0, {}, {1, 2});
  push.keys.range = {11, 12};
  shard.push(push);
  shard.push(rows_of(0, 1, {10, 12, 14}, {5, 5, 5}));
  EXPECT_EQ(list(shard.read({}).values), (std::vector<float>{5, 1, 7, 0, 5}));
  EXPECT_EQ(list(shard.read({.range = {12, 99}}).values), (std::vector<float>{7, 0, 5}));
}

TEST(DenseShard, WhoReadKeepsItsVersion) {
  Shard shard(KeyIndex(std::vector<KeyRange>{{0, 0}}), Array<float>(1), adding(1));
  const Reply before = shard.read({});
  shard.push(push_of(0, 0, 0, 5));
  EXPECT_EQ(before.values[0], 0);
  EXPECT_EQ(value_of(shard), 5);
}

TEST(DenseShard, AnErrorChangesNothing) {
  Shard shard(KeyIndex(std::vector<KeyRange>{{10, 14}}), Array<float>(kKeys), adding(1));
  EXPECT_THROW(shard.push(rows_of(0, 0, {10, 15}, {1, 1})), Error);
  EXPECT_THROW(shard.push(rows_of(0, 0, {11, 10}, {1, 1})), Error);
  EXPECT_THROW(shard.push(rows_of(0, 0, {10, 11}, {1})), Error);
  EXPECT_THROW(shard.push(rows_of(1, 0, {10, 11}, {1, 1})), Error);
  EXPECT_EQ(shard.version(), 0U);
  EXPECT_EQ(shard.clock(0), 0U);
  EXPECT_EQ(list(shard.read({}).values), std::vector<float>(kKeys));
}

TEST(DenseShard, ThePolicyForBadValuesIsRefuseClipOrPass) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto push = [&](BadValues policy) {
    ShardOptions options = adding(1);
    options.bad_values = policy;
    Shard shard(KeyIndex(std::vector<KeyRange>{{0, 3}}), Array<float>(4), options);
    shard.push(rows_of(0, 0, {0, 1, 2, 3}, {kNan, -kInfinity, 0.5F, 5}));
    return list(shard.read({}).values);
  };
  EXPECT_EQ(push(BadValues::clip), (std::vector<float>{0, -1, 0.5F, 1}));
  const std::vector<float> passed = push(BadValues::pass);
  EXPECT_TRUE(std::isnan(passed[0]));
  EXPECT_EQ(passed[1], -kInfinity);
  try {
    push(BadValues::refuse);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(error.text().find("worker 0"), std::string::npos) << error.what();
  }
}

TEST(DenseShard, ClippingLeavesAGradientAloneThatIsFinite) {
  ShardOptions options = adding(1);
  options.bad_values = BadValues::clip;
  Shard shard(KeyIndex(std::vector<KeyRange>{{0, 1}}), Array<float>(2), options);
  shard.push(rows_of(0, 0, {0, 1}, {-3, 5}));
  EXPECT_EQ(list(shard.read({}).values), (std::vector<float>{-3, 5}));
}

TEST(Shard, RefusesOptionsThatNeverUpdate) {
  for (const std::uint32_t backups : {3U, 4U, 400U}) EXPECT_THROW(counter(Synchronous{.backups = backups}, 3), Error);
  for (const std::uint32_t splits : {0U, 4U}) EXPECT_THROW(counter(Softsync{.splits = splits}, 3), Error);
  EXPECT_THROW(counter(Asynchronous{}, 0), Error);
  EXPECT_TRUE(test::error_of([] { check(Softsync{.splits = 4}, 3); }).ends_with("give splits from 1 to the workers"));
  EXPECT_TRUE(
      test::error_of([] { check(Synchronous{.backups = 3}, 3); }).ends_with("workers: give fewer backup workers"));
}

TEST(Shard, KnowsAWorkerThatHasDoneMore) {
  Shard shard = counter(StaleSynchronous{.staleness = 1}, 2);
  shard.push(push_of(0, 0, 0, 1));
  EXPECT_FALSE(shard.lost_pushes(0, 1));
  EXPECT_TRUE(shard.lost_pushes(0, 2));
  EXPECT_TRUE(shard.lost_pushes(1, 1));
  EXPECT_FALSE(shard.lost_pushes(kNoWorker, 9));
  EXPECT_EQ(shard.push(push_of(0, 1, 2, 1)), PushOutcome::ahead);
  EXPECT_EQ(shard.version(), 1U);
}

TEST(Shard, APushAfterOneThatIsLostChangesNothing) {
  for (const Consistency& one : {Consistency(Asynchronous{}), Consistency(StaleSynchronous{.staleness = 9}),
                                 Consistency(Softsync{}), Consistency(BoundedDelay{.delay = 9})}) {
    Shard shard = counter(one, 1);
    shard.push(push_of(0, 0, 0, 1));
    Push push = push_of(0, 3, 0, 1);
    push.stamp.previous = 2;  // it has pushed clock 1
    EXPECT_EQ(shard.push(push), PushOutcome::ahead);
    EXPECT_EQ(shard.clock(0), 1U);
    EXPECT_EQ(value_of(shard), 1);
    push.stamp = {.worker = 0, .clock = 1, .previous = 1};
    EXPECT_EQ(shard.push(push), PushOutcome::accepted);
    EXPECT_EQ(value_of(shard), 2);
  }
}

TEST(Shard, ARepeatedPushOfAWorkerThatHasLeftCountsOnceAndDoesNotBringItBack) {
  Shard shard = counter(StaleSynchronous{.staleness = 0}, 2);
  shard.push(push_of(1, 0, 0, 1));
  shard.leave(1);
  EXPECT_EQ(shard.clock(1), 1U);
  EXPECT_EQ(shard.push(push_of(1, 0, 0, 1)), PushOutcome::duplicate);
  EXPECT_EQ(value_of(shard), 1);
  shard.push(push_of(0, 0, 0, 1));
  shard.push(push_of(0, 1, 0, 1));
  EXPECT_TRUE(shard.readable(2));  // no read waits for worker 1
  EXPECT_EQ(shard.push(push_of(1, 1, 0, 1)), PushOutcome::accepted);
  EXPECT_FALSE(shard.readable(3));  // it is back
}

// ---- checkpoints

TEST(Shard, WhoHadLeftIsThereAgainAfterACheckpointAndGoesOnWhereItWas) {
  Checkpoint saved;
  {
    Shard shard = counter(Softsync{}, 2);
    for (std::uint64_t clock = 0; clock < 3; ++clock) {
      for (const std::uint32_t worker : {0U, 1U}) shard.push(push_of(worker, clock, 0, 1));
    }
    shard.leave(0);
    shard.leave(1);
    shard.save(saved, "");
  }
  Shard shard = counter(Softsync{}, 2);
  shard.load(saved, "");
  EXPECT_EQ(shard.statistics().applied, 6U);
  EXPECT_EQ(shard.clock(0), 3U);
  EXPECT_EQ(shard.slowest(), 3U);
  EXPECT_EQ(shard.push(push_of(0, 2, 0, 1)), PushOutcome::duplicate);
  shard.push(push_of(0, 3, 3, 1));
  EXPECT_EQ(shard.version(), 3U);  // an update takes the gradients of both again
  shard.push(push_of(1, 3, 3, 1));
  EXPECT_EQ(shard.version(), 4U);
  EXPECT_EQ(value_of(shard), 2 + 2 + 1 + 2);  // the gradients from version 0 that came at version 2 count half
}

TEST(Shard, GoesOnFromACheckpointAndAsksAgainForWhatWaited) {
  Checkpoint saved;
  {
    Shard shard = counter(BoundedDelay{.delay = 3}, 2);
    for (const std::uint32_t worker : {0U, 1U}) shard.push(push_of(worker, 0, 0, 1));
    shard.push(push_of(0, 1, 0, 5));  // it waits for worker 1
    shard.save(saved, "");
  }
  Shard shard = counter(BoundedDelay{.delay = 3}, 2);
  shard.load(saved, "");
  EXPECT_EQ(value_of(shard), 2);
  EXPECT_EQ(shard.clock(0), 1U);
  EXPECT_EQ(shard.push(push_of(0, 1, 0, 5)), PushOutcome::accepted);
  EXPECT_EQ(shard.push(push_of(1, 1, 0, 7)), PushOutcome::accepted);
  EXPECT_EQ(value_of(shard), 14);
  EXPECT_EQ(shard.push(push_of(1, 0, 0, 7)), PushOutcome::duplicate);
}

TEST(Shard, ASparseOneIsRestoredWithItsKeys) {
  Checkpoint saved;
  Shard first(KeyIndex(), {}, {.rule = AdaGrad{}, .workers = 1});
  first.push(rows_of(0, 0, {5, 9}, {1, 2}));
  first.push(rows_of(0, 1, {1, 9}, {3, 4}));
  first.save(saved, "");
  Shard second(KeyIndex(), {}, {.rule = AdaGrad{}, .workers = 1});
  second.load(saved, "");
  for (Shard* shard : {&first, &second}) shard->push(rows_of(0, 2, {1, 2, 5}, {1, 1, 1}));
  EXPECT_EQ(first.read({}).keys, second.read({}).keys);
  EXPECT_EQ(list(first.read({}).values), list(second.read({}).values));
  Shard dense = counter(Synchronous{}, 1);
  EXPECT_THROW(dense.load(saved, ""), Error);
}

}  // namespace
}  // namespace lp
