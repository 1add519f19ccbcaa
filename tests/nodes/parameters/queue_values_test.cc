// Shards whose values are in the memory of a queue: the bits of shards on the host, on every grid, for every rule.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/error_of.h"
#include "tests/lp/kernels/grids.h"
#include "tests/nodes/parameters/shard_twins.h"

namespace lp {
namespace {

using test::ShardTwins;

class QueueValues : public testing::TestWithParam<OptimizerRule> {};

TEST_P(QueueValues, OfAWholeTensorHaveTheBitsOfTheHost) {
  for (const kernels::Grid grid : test::kGrids) {
    ShardTwins twins(GetParam(), Synchronous{}, 3, /*sparse=*/false, kernels::host_queue(grid));
    twins.expect_equal();
    for (std::uint64_t step = 0; step < 10; ++step) {
      for (const std::uint32_t worker : {1U, 0U, 2U}) twins.push(worker, step);
      twins.expect_equal();
      if (step == 5) twins.exchange();
    }
  }
}

TEST_P(QueueValues, OfRowsHaveTheBitsOfTheHost) {
  for (const bool sparse : {false, true}) {
    ShardTwins twins(GetParam(), Asynchronous{}, 2, sparse, kernels::host_queue({.blocks = 2, .threads = 5}));
    for (std::uint64_t clock = 0; clock < 6; ++clock) {
      twins.push(0, clock, {1, 2, 7});
      twins.push(1, clock, {0, 2, 3, clock + 4});  // new rows, step by step
      twins.expect_equal();
      if (clock == 3) twins.exchange();
    }
  }
}

TEST_P(QueueValues, SumsOfMoreGradientsThanAKernelTakesHaveTheBitsOfTheHost) {
  constexpr std::uint32_t kMany = 2 * kernels::GradientSum::kMost + 3;
  ShardTwins twins(GetParam(), Synchronous{}, kMany, /*sparse=*/false,
                   kernels::host_queue({.blocks = 3, .threads = 4}));
  for (std::uint64_t step = 0; step < 3; ++step) {
    for (std::uint32_t worker = 0; worker < kMany; ++worker) twins.push(worker, step);
    twins.expect_equal();
  }
}

INSTANTIATE_TEST_SUITE_P(EveryRule, QueueValues,
                         testing::Values(Sgd{}, Momentum{}, AdaGrad{}, Adam{}, Ftrl{.l1 = 0.1F}, Sum{}));

TEST(QueueValuesReader, KeepsItsVersion) {
  ShardTwins twins(Sgd{}, Asynchronous{}, 1, /*sparse=*/false, kernels::host_queue());
  twins.push(0, 0);
  const Array<float> before = twins.read_on_queue();
  const std::vector<float> bits = test::bits_of(before);
  twins.push(0, 1);
  EXPECT_EQ(test::bits_of(before), bits);
  EXPECT_NE(test::bits_of(twins.read_on_queue()), bits);
}

Push gradient_of_worker_0(const std::vector<float>& values) {
  Push push;
  push.examples = 1;
  push.values = plain(Array<float>::copy_of(values));
  return push;
}

TEST(QueueValuesPolicy, ForBadValuesIsRefuseClipOrPass) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Push bad = gradient_of_worker_0({kNan, -kInfinity, 0.5F, 5});
  const auto queue = kernels::host_queue();
  const auto shard_with = [&](BadValues policy) {
    return Shard(KeyIndex(std::vector<KeyRange>{{0, 3}}), Array<float>(4),
                 {.rule = Sum{}, .consistency = Asynchronous{}, .bad_values = policy}, queue.get());
  };
  Shard clipping = shard_with(BadValues::clip);
  EXPECT_EQ(clipping.push(bad), PushOutcome::accepted);
  EXPECT_EQ(test::bits_of(clipping.values()), (std::vector<float>{0, -1, 0.5F, 1}));
  Shard passing = shard_with(BadValues::pass);
  EXPECT_EQ(passing.push(bad), PushOutcome::accepted);
  EXPECT_TRUE(std::isnan(passing.values()[0]));
  EXPECT_EQ(passing.values()[1], -kInfinity);
  Shard refusing = shard_with(BadValues::refuse);
  const std::string error = test::error_of([&] { refusing.push(bad); });
  EXPECT_NE(error.find("the gradient of worker 0 is not finite"), std::string::npos) << error;
  EXPECT_NE(error.find("at element 0"), std::string::npos) << error;
  EXPECT_EQ(refusing.push(gradient_of_worker_0({1, 2, 3, 4})), PushOutcome::accepted);  // as if the other never came
  EXPECT_EQ(test::bits_of(refusing.values()), (std::vector<float>{1, 2, 3, 4}));
}

}  // namespace
}  // namespace lp
