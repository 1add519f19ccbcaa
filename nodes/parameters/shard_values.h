#pragma once
// The values of a shard and the optimizer that changes them, on the host or in the memory of a queue
// (lp/kernels/queue.h), for instance of a GPU. Both have the same bits.
//
// Owned by a Shard; one thread at a time.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "lp/base/array.h"
#include "lp/kernels/queue.h"
#include "nodes/parameters/optimizer.h"
#include "nodes/parameters/sum_in_worker_order.h"

namespace lp {

class ShardValues {
 public:
  virtual ~ShardValues() = default;

  virtual std::size_t size() const = 0;
  // Adds zeros without state.
  virtual void grow(std::size_t size) = 0;

  // Returns whether a gradient has no value that is NaN or infinite. It may bring the gradient to `there` for that,
  // where update() finds it.
  virtual bool finite(const Array<float>& gradient, kernels::Room<float>& there) = 0;

  // Applies the weighted sum of the gradients, in their order, divided by the examples unless there are none. All have
  // the same rows, of `width` values each.
  virtual void update(std::span<const WaitingGradient> gradients, std::size_t width, std::uint64_t examples) = 0;

  // The values after the last update. Readers keep their version.
  virtual const Array<float>& values() const = 0;

  // The optimizer with its state, for checkpoints.
  virtual Optimizer optimizer() const = 0;
  virtual void restore(Array<float> values, Optimizer optimizer) = 0;
};

std::unique_ptr<ShardValues> host_values(Array<float> values, const OptimizerRule& rule);

// The queue outlives the values. Gradients go there when they are checked or applied, and values come back when they
// are read. Error::overloaded when its memory is full.
std::unique_ptr<ShardValues> queue_values(kernels::Queue& queue, Array<float> values, const OptimizerRule& rule);

}  // namespace lp
