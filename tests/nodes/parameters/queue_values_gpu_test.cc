// Shards whose values are on a GPU: the bits of shards on the host, for every rule. Needs a device.
#include <gtest/gtest.h>

#include <cstdint>

#include "lp/kernels/device_queue.h"
#include "tests/nodes/parameters/shard_twins.h"

namespace lp {
namespace {

TEST(QueueValuesGpu, HaveTheBitsOfTheHost) {
  for (const OptimizerRule& rule : {OptimizerRule(Sgd{}), OptimizerRule(Momentum{}), OptimizerRule(AdaGrad{}),
                                    OptimizerRule(Adam{}), OptimizerRule(Ftrl{.l1 = 0.1F}), OptimizerRule(Sum{})}) {
    for (const bool sparse : {false, true}) {
      test::ShardTwins twins(rule, Asynchronous{}, 2, sparse, kernels::device_queue());
      for (std::uint64_t clock = 0; clock < 6; ++clock) {
        twins.push(0, clock, {1, 2, 7});
        twins.push(1, clock, {0, 2, 3, clock + 4});
        twins.expect_equal();
        if (clock == 3) twins.exchange();
      }
    }
  }
}

TEST(QueueValuesGpu, SumsOfManyGradientsHaveTheBitsOfTheHost) {
  constexpr std::uint32_t kWorkers = 2 * kernels::GradientSum::kMost + 3;
  test::ShardTwins twins(Adam{}, Synchronous{}, kWorkers, /*sparse=*/false, kernels::device_queue());
  for (std::uint64_t step = 0; step < 3; ++step) {
    for (std::uint32_t worker = 0; worker < kWorkers; ++worker) twins.push(worker, step);
    twins.expect_equal();
  }
}

}  // namespace
}  // namespace lp
