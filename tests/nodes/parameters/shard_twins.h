#pragma once
// A shard on the host, and one whose values are in the memory of a queue, which get the same pushes: for the tests that
// both have the same bits.

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "nodes/parameters/shard.h"
#include "tests/lp/kernels/grids.h"

namespace lp::test {

inline std::vector<float> bits_of(const Array<float>& values) { return {values.begin(), values.end()}; }

class ShardTwins {
 public:
  static constexpr std::uint64_t kRows = 12;
  static constexpr std::uint32_t kWidth = 7;

  ShardTwins(const OptimizerRule& rule, const Consistency& consistency, std::uint32_t workers, bool sparse,
             std::unique_ptr<kernels::Queue> queue)
      : queue_(std::move(queue)),
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

}  // namespace lp::test
