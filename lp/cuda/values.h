#pragma once
// The bytes of an Array: on a GPU, on the host, or on both. They never change, so a copy that was made for one reader
// serves the next. All arrays of the same values share it; thread-safe.

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "lp/base/array.h"
#include "lp/cuda/stream.h"

namespace lp::cuda {

class Values {
 public:
  // Values that are on the host.
  explicit Values(Buffer bytes) : size_(bytes.size()), host_(std::move(bytes)) {}
  // Takes memory for values on the GPU. Work that is put into the stream before made() writes them. Throws
  // Error(overloaded) when the GPU has not enough memory.
  Values(std::size_t size, Stream& stream);
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;

  void* memory() const { return copies_.front()->memory; }  // for that work
  void made(Stream& stream);

  std::size_t size() const noexcept { return size_; }
  // The address at which work that is put into the stream from now on reads the values. Throws as the constructor does.
  const void* on(Stream& stream);
  // The bytes; waits for the work that makes them.
  Buffer host();

 private:
  // The values in the memory of one GPU. They go away after the work of every stream that reads them.
  struct OnGpu {
    OnGpu(Stream& stream, std::size_t size);
    ~OnGpu();
    OnGpu(const OnGpu&) = delete;
    OnGpu& operator=(const OnGpu&) = delete;

    const std::shared_ptr<WayOut> way_out;
    const std::shared_ptr<Queue> owner;  // in its order the memory is taken and given back
    void* const memory;
    std::shared_ptr<const Mark> ready{};            // null: they are not made
    std::vector<std::shared_ptr<Queue>> readers{};  // other queues that read it
  };

  const std::size_t size_;
  std::mutex mutex_;
  std::optional<Buffer> host_;
  std::vector<std::unique_ptr<OnGpu>> copies_;  // on different GPUs
};

}  // namespace lp::cuda
