#pragma once
// Error feedback for gradients in the memory of a queue (lp/kernels/queue.h): they are compressed there, so that only
// the encoding goes to the host. The encodings have the bits of ErrorFeedback's, and any server decodes them.
//
// Owned by the node that owns the queue, too; one thread at a time.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lp/kernels/queue.h"
#include "lp/kernels/selection.h"
#include "nodes/parameters/gradient_encoding.h"

namespace lp {

class QueueFeedback {
 public:
  // For gradients of `size` values. Error::failed unless the kind is one_bit or top_k, which have kernels, and its
  // options fit.
  QueueFeedback(kernels::Queue& queue, const CompressionOptions& options, std::uint64_t size);

  // Steps are those of ErrorFeedback::encode: the same step again gives the same encoding, an earlier one forgets the
  // residual. Waits for the queue.
  Encoded encode(const float* gradient, std::uint64_t step);

  // The residual of the steps so far. restore() takes one, of the same size or empty.
  std::vector<float> residual() const;
  void restore(std::span<const float> residual);

 private:
  Encoded one_bit();
  Encoded top_k();

  kernels::Queue& queue_;
  CompressionOptions options_;
  kernels::Room<float> residual_;
  kernels::Room<std::uint64_t> bits_{};       // one_bit
  kernels::Room<float> means_{};              // one_bit
  std::optional<kernels::TopK> selection_{};  // top_k
  std::optional<std::uint64_t> step_{};       // the step that was encoded last
  Encoded encoded_{};                         // its encoding
};

}  // namespace lp
