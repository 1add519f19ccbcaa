// Shards whose values are in the memory of a queue: the bits of shards on the host, on every grid, for every rule.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

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

}  // namespace
}  // namespace lp
