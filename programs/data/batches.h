#pragma once
// The examples that a step trains on: a function of (seed, step) alone. So every worker knows its part without asking,
// and a restarted worker repeats the same steps.
//
// One thread at a time: it caches the order of the last epoch.

#include <cstdint>
#include <vector>

namespace lp {

// The endless sequence of epochs, each all examples in a new order, split into batches of one size; a batch may run
// from one epoch into the next.
class Batches {
 public:
  // Error::failed when there are no examples or the batch is empty.
  Batches(std::uint32_t examples, std::uint32_t batch, std::uint64_t seed);

  // The examples of the global batch of `step` = 0, 1, ...
  std::vector<std::uint32_t> batch(std::uint64_t step) { return shard(step, 0, 1); }

  // The part of the batch for `worker` of `workers`: contiguous, so that the shards in worker order are the batch.
  // Their sizes differ by one at most; with more workers than examples some are empty.
  std::vector<std::uint32_t> shard(std::uint64_t step, std::uint32_t worker, std::uint32_t workers);

  // Like batch(), but each epoch is split by itself into epoch_steps() batches, and its last batch may be smaller.
  std::vector<std::uint32_t> epoch_batch(std::uint64_t step);
  std::uint64_t epoch_steps() const { return (order_.size() + batch_ - 1) / batch_; }

 private:
  void order(std::uint64_t epoch);

  std::uint32_t batch_;
  std::uint64_t seed_;
  std::uint64_t epoch_;
  std::vector<std::uint32_t> order_;  // the order of epoch_
};

}  // namespace lp
