#pragma once
// The bytes of an Array: on a GPU, on the host, or on both. They never change, so a copy that was made for one reader
// serves the next. The memory of the GPU may be another process's, which keeps it until this is gone. All arrays of the
// same values share it; thread-safe.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "lp/base/array.h"
#include "lp/cuda/stream.h"
#include "lp/wire/message.h"

namespace lp::cuda {

class Values final : public Buffer::Elsewhere, public std::enable_shared_from_this<Values> {
 public:
  // Values that are on the host.
  explicit Values(Buffer bytes) : size_(bytes.size()), host_(std::move(bytes)) {}
  // Takes memory for values on the GPU. Work that is put into the stream before made() writes them. Throws
  // Error(overloaded) when the GPU has not enough memory.
  Values(std::size_t size, Stream& stream);
  // Values that a process of this host has named in a frame, which keeps them.
  Values(std::size_t size, Buffer name);
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;

  void* memory() const { return copies_.front()->memory; }  // for that work
  void made(Stream& stream);

  std::size_t size() const noexcept { return size_; }
  // The address at which work that is put into the stream from now on reads the values. Throws as the constructor does.
  const void* on(Stream& stream);
  // The bytes; waits for the work that makes them.
  Buffer host();
  // A frame that names values on a GPU, if the receiver opens its memory; else empty. Waits for the work that makes
  // them.
  Buffer name(const MessageReceiver& receiver);

  std::uint64_t place() const noexcept override { return place_; }
  Buffer here() override { return host(); }

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

  // The values in memory of another process.
  struct Foreign {
    explicit Foreign(Buffer given) : name(std::move(given)) {}
    ~Foreign();
    Foreign(const Foreign&) = delete;
    Foreign& operator=(const Foreign&) = delete;

    Buffer name;  // goes back to its owner after the work of every stream that reads the values
    std::shared_ptr<const std::byte> memory{};      // null: it is not open
    std::vector<std::shared_ptr<Queue>> readers{};  // on its GPU
  };

  // The caller holds the lock.
  const std::byte* foreign_memory();
  const Buffer& host_locked();

  const std::size_t size_;
  const std::uint64_t place_ = 0;  // the GPU on which the values are made
  std::mutex mutex_;
  std::optional<Buffer> host_;
  std::optional<Foreign> foreign_;
  std::vector<std::unique_ptr<OnGpu>> copies_;  // on different GPUs
};

}  // namespace lp::cuda
