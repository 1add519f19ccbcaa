#pragma once
// The work of one node on a GPU, in its order. Nodes have a stream each, so that none waits for the work of another. It
// belongs to its node; one thread at a time. Arrays keep what they need of it, so they may live longer.

#include <cstddef>
#include <memory>
#include <mutex>

#include "lp/base/array.h"
#include "lp/cuda/device.h"
#include "lp/cuda/staging.h"

namespace lp::cuda {

// A way from the GPU to the host beside the node's work: values that leave the GPU wait only for the work that made
// them. Thread-safe; arrays and their stream share it.
class WayOut {
 public:
  explicit WayOut(std::shared_ptr<Device> device);
  const std::shared_ptr<Device>& device() const { return device_; }
  // Returns a copy of bytes on the GPU that are there when `ready` is reached; null: they are there.
  Buffer copy(const void* from, std::size_t size, const Mark* ready);

 private:
  std::shared_ptr<Device> device_;
  std::mutex mutex_;
  std::unique_ptr<Queue> queue_;
  Stage stage_;
};

class Stream {
 public:
  // Throws Error(failed), with the reason, when the process has no such GPU.
  explicit Stream(std::shared_ptr<Device> gpu = device());

  // The cudaStream_t for kernels of the node. Its GPU becomes the current one of this thread.
  void* native() const { return queue_->native(); }
  // Waits until all work of the stream is done. Throws Error(failed) when a part of it has failed.
  void wait() const { queue_->wait(); }

  // For arrays.
  const std::shared_ptr<Queue>& queue() const { return queue_; }
  const std::shared_ptr<WayOut>& way_out() const { return way_out_; }
  Stage& way_in() { return way_in_; }

 private:
  std::shared_ptr<Queue> queue_;
  std::shared_ptr<WayOut> way_out_;
  Stage way_in_;
};

}  // namespace lp::cuda
