#pragma once
// Which examples a step trains on: a function of (seed, step) alone, so that every worker knows its part without
// asking, and one that is restarted does again what it did.
//
// One thread at a time: it keeps the order of the epoch that was asked for last.

#include <cstdint>
#include <span>
#include <vector>

namespace lp {

// The endless sequence of epochs, each all examples in a new order, cut into batches of one size; a batch may run from
// one epoch into the next.
class Batches {
 public:
  // Error::failed when there are no examples or the batch is empty.
  Batches(std::uint32_t examples, std::uint32_t batch, std::uint64_t seed);

  // The examples of the global batch of `step` = 0, 1, ...
  std::vector<std::uint32_t> batch(std::uint64_t step) { return shard(step, 0, 1); }

  // The part of it that falls to `worker` of `workers`: contiguous, so that the shards in worker order are the batch.
  // Their sizes differ by one at most; with more workers than examples some are empty.
  std::vector<std::uint32_t> shard(std::uint64_t step, std::uint32_t worker, std::uint32_t workers);

  // The same where every epoch is cut by itself into so many batches, of which the last may be smaller.
  std::vector<std::uint32_t> epoch_batch(std::uint64_t step);
  std::uint64_t epoch_steps() const { return (order_.size() + batch_ - 1) / batch_; }

 private:
  void order(std::uint64_t epoch);

  std::uint32_t batch_;
  std::uint64_t seed_;
  std::uint64_t epoch_;
  std::vector<std::uint32_t> order_;  // of epoch_
};

}  // namespace lp
