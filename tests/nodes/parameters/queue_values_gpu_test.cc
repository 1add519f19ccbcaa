// Shards whose values are on a GPU: the bits of shards on the host, for every rule. Needs a device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "lp/base/scheduler.h"
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

// The seconds of a push and a pull of 256 MiB; the best of five.
double seconds_of_a_step(kernels::Queue* queue) {
  constexpr std::uint32_t kWideRow = 1024;
  constexpr std::uint64_t kManyRows = std::uint64_t{64} << 10;
  const auto values = Array<float>(kManyRows * kWideRow);
  Shard shard(KeyIndex(std::vector<KeyRange>{{0, kManyRows - 1}}), values,
              {.rule = Adam{}, .consistency = Asynchronous{}, .workers = 1, .width = kWideRow}, queue);
  const auto gradient = Array<float>::copy_of(std::vector<float>(kManyRows * kWideRow, 0.5F));
  double best = 1e9;
  for (std::uint64_t clock = 0; clock < 6; ++clock) {
    Push push;
    push.stamp = {.worker = 0, .clock = clock, .version = shard.version()};
    push.examples = 1;
    push.values = plain(gradient);
    const Time begin = now();
    shard.push(push);
    EXPECT_EQ(shard.read({}).values.size(), values.size());
    if (clock > 0) best = std::min(best, to_seconds(now() - begin));  // the first one takes memory
  }
  return best;
}

TEST(QueueValuesGpu, APushAndAPullTakeAFifthOfTheTimeOnTheHost) {
  const auto queue = kernels::device_queue();
  const double on_device = seconds_of_a_step(queue.get());
  const double on_host = seconds_of_a_step(nullptr);
  std::printf("a push and a pull of 256 MiB: %.1f ms on the GPU, %.1f ms on the host\n", on_device * 1e3,
              on_host * 1e3);
  EXPECT_LE(5 * on_device, on_host);
}

}  // namespace
}  // namespace lp
