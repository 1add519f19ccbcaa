#pragma once
// The memory of a GPU, and the work that moves bytes there and back. lp::cuda::Array consists of these operations, and
// kernels::Queue (lp/kernels/queue.h) adds kernels to them. One implementation is CUDA's; tests have one that a
// processor executes, so that the same paths run on every machine.
//
// A Device belongs to its process, and lives as long as somebody has it. A Queue belongs to a Stream, and to the arrays
// that were made in it. All of this is thread-safe. No header of this room includes one of CUDA.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace lp::cuda {

// A point in the work of a queue. It is reached when all the work before it is done.
class Mark {
 public:
  virtual ~Mark() = default;
  // The thread waits until the point is reached. Throws Error(failed), which names the GPU, if the work fails.
  virtual void wait() const = 0;
};

// Work for the GPU, which does it in its order (a CUDA stream). Nothing here waits for the GPU, except wait() and the
// end of a Queue. Every function throws Error(failed), which names the GPU, if an earlier piece of work has failed, if
// the GPU has disappeared, or if this process was forked from the one that has the GPU.
class Queue {
 public:
  virtual ~Queue() = default;
  // Takes memory for the work that follows. Throws Error(overloaded) when the GPU has not enough.
  virtual void* allocate(std::size_t size) = 0;
  // Gives memory back after the work so far.
  virtual void free(void* memory) noexcept = 0;
  // Copy bytes between the memory of the GPU and the host's, and within the memory of the GPU. to_device() reads pinned
  // memory when the queue comes to it, and other memory before it returns. The bytes of to_host() have arrived at the
  // next mark.
  virtual void to_device(void* to, const void* host, std::size_t size) = 0;
  virtual void to_host(void* host, const void* from, std::size_t size) = 0;
  virtual void copy(void* to, const void* from, std::size_t size) = 0;
  virtual std::shared_ptr<const Mark> mark() = 0;
  // The work that follows waits for a mark of any queue of the GPU.
  virtual void follow(const Mark& mark) = 0;
  // Returns when all work so far is done.
  virtual void wait() = 0;
  // The cudaStream_t into which a node puts kernels of its own. Its GPU becomes the current one of this thread.
  virtual void* native() const = 0;
};

// Names memory of a GPU to the other processes of this host: a CUDA IPC handle, and a position in its memory.
struct MemoryHandle {
  std::array<std::byte, 64> base{};
  std::uint64_t offset = 0;
};

// Memory of the host that the GPU reads and writes by itself.
class Pinned {
 public:
  virtual ~Pinned() = default;
  virtual std::byte* data() const noexcept = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const std::string& name() const noexcept = 0;  // "GPU-... (NVIDIA H100)"
  // A number that the GPU has in all processes of this host.
  virtual std::uint64_t place() const noexcept = 0;
  // Names memory that a queue has given, and no other memory later; nothing where the system refuses that (containers,
  // parts of a GPU), and for little memory, whose bytes are sent as fast.
  virtual std::optional<MemoryHandle> share(const void* memory) = 0;
  // Opens memory that another process shares: the address of its base. It is closed with the pointer, so hold that as
  // long as work may read it. Throws Error(failed).
  virtual std::shared_ptr<const std::byte> open(const std::array<std::byte, 64>& base) = 0;
  virtual std::unique_ptr<Queue> open_queue() = 0;
  virtual std::unique_ptr<Pinned> pin(std::size_t size) = 0;
};

// The GPU of that number among those that this process sees. Throws Error(failed), in words that say what to do, when
// this process cannot use it: without a driver or a GPU, or in a build without the CUDA toolkit.
std::shared_ptr<Device> device(int number = 0);

}  // namespace lp::cuda
