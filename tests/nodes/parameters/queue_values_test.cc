// Shards whose values are in the memory of a queue: the bits of shards on the host, on every grid, for every rule.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "lp/base/random.h"
#include "nodes/parameters/shard.h"
#include "tests/lp/kernels/grids.h"

namespace lp {
namespace {

constexpr std::uint64_t kRows = 12;
constexpr std::uint32_t kWidth = 7;

std::vector<float> bits_of(const Array<float>& values) { return {values.begin(), values.end()}; }

// A shard on the host, and one on a queue, which get the same pushes.
class Twins {
 public:
  Twins(const OptimizerRule& rule, const Consistency& consistency, std::uint32_t workers, bool sparse,
        kernels::Grid grid)
      : queue_(kernels::host_queue(grid)),
        options_{.rule = rule, .consistency = consistency, .workers = workers, .width = kWidth},
        sparse_(sparse),
        host_(shard(nullptr)),
        on_queue_(shard(queue_.get())) {}

  // A gradient for all rows, or for some.
  void push(std::uint32_t worker, std::uint64_t clock, const std::vector<std::uint64_t>& keys = {}) {
    Push push;
    push.stamp = {.worker = worker, .clock = clock, .version = host_.version()};
    push.examples = worker + 3;
    push.keys.list = Array<std::uint64_t>::copy_of(keys);
    const std::uint64_t rows = keys.empty() ? kRows : keys.size();
    push.values = plain(Array<float>::copy_of(test::normal_values(rows * kWidth, 100 * clock + worker)));
    EXPECT_EQ(on_queue_.push(push), host_.push(push));
    EXPECT_EQ(on_queue_.version(), host_.version());
  }

  void expect_equal() const {
    ASSERT_EQ(bits_of(on_queue_.read({}).values), bits_of(host_.read({}).values));
    EXPECT_EQ(bits_of(on_queue_.previous()), bits_of(host_.previous()));
    Checkpoint host;
    Checkpoint on_queue;
    host_.save(host, "");
    on_queue_.save(on_queue, "");
    EXPECT_EQ(on_queue.get<Optimizer>("optimizer").first, host.get<Optimizer>("optimizer").first);
    EXPECT_EQ(on_queue.get<Optimizer>("optimizer").second, host.get<Optimizer>("optimizer").second);
    EXPECT_EQ(on_queue.get<Optimizer>("optimizer").steps, host.get<Optimizer>("optimizer").steps);
  }

  // Each goes on from the checkpoint of the other.
  void exchange() {
    Checkpoint host;
    Checkpoint on_queue;
    host_.save(host, "");
    on_queue_.save(on_queue, "");
    host_.load(on_queue, "");
    on_queue_.load(host, "");
  }

  // A reader keeps the version that it has read.
  Array<float> read_on_queue() const { return on_queue_.read({}).values; }

 private:
  Shard shard(kernels::Queue* queue) const {
    if (sparse_) return Shard(KeyIndex(), {}, options_, queue);
    const std::vector<float> start = test::normal_values(kRows * kWidth);
    return Shard(KeyIndex(std::vector<KeyRange>{{0, kRows - 1}}), Array<float>::copy_of(start), options_, queue);
  }

  std::unique_ptr<kernels::Queue> queue_;
  ShardOptions options_;
  bool sparse_;
  Shard host_;
  Shard on_queue_;
};

class QueueValues : public testing::TestWithParam<OptimizerRule> {};

TEST_P(QueueValues, OfAWholeTensorHaveTheBitsOfTheHost) {
  for (const kernels::Grid grid : test::kGrids) {
    Twins twins(GetParam(), Synchronous{}, 3, /*sparse=*/false, grid);
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
    Twins twins(GetParam(), Asynchronous{}, 2, sparse, {.blocks = 2, .threads = 5});
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
  Twins twins(GetParam(), Synchronous{}, kMany, /*sparse=*/false, {.blocks = 3, .threads = 4});
  for (std::uint64_t step = 0; step < 3; ++step) {
    for (std::uint32_t worker = 0; worker < kMany; ++worker) twins.push(worker, step);
    twins.expect_equal();
  }
}

INSTANTIATE_TEST_SUITE_P(EveryRule, QueueValues,
                         testing::Values(Sgd{}, Momentum{}, AdaGrad{}, Adam{}, Ftrl{.l1 = 0.1F}, Sum{}));

TEST(QueueValuesReader, KeepsItsVersion) {
  Twins twins(Sgd{}, Asynchronous{}, 1, /*sparse=*/false, {});
  twins.push(0, 0);
  const Array<float> before = twins.read_on_queue();
  const std::vector<float> bits = bits_of(before);
  twins.push(0, 1);
  EXPECT_EQ(bits_of(before), bits);
  EXPECT_NE(bits_of(twins.read_on_queue()), bits);
}

}  // namespace
}  // namespace lp
