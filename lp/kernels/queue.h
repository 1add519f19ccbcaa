#pragma once
// Where kernels run: a cuda::Queue (lp/cuda/device.h) that also runs the kernels of lp and matrix products. One runs on
// the host, in memory of the host; that of a GPU is in device_queue.h. Code that is written for a queue runs on both.
//
// Owned by a node, and used in its turn: one thread at a time. Each node has a queue of its own; none waits for the
// work of another.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "lp/cuda/device.h"
#include "lp/kernels/grid.h"
#include "lp/kernels/kernel.h"

namespace lp::kernels {

// C ← A B, or A Bᵀ, or Aᵀ B, of matrices that are stored column by column.
struct Product {
  enum class Transposed : std::uint8_t { none, first, second };

  Transposed transposed = Transposed::none;
  std::uint64_t rows = 0;     // those of C
  std::uint64_t columns = 0;  // those of C
  std::uint64_t inner = 0;    // the length of the sums
  const float* a = nullptr;
  const float* b = nullptr;
  float* c = nullptr;
};

// Its memory is zeroed, and aligned to 64 bytes.
class Queue : public cuda::Queue {
 public:
  virtual void run(const Kernel& kernel) = 0;
  virtual void multiply(const Product& product) = 0;

  // Copies of ordinary memory beside the work. The bytes of to_device_beside() are there for the work that follows; the
  // work before goes on, and must not use that memory. Those of to_host_beside() are here when it returns, as the work
  // up to the mark has made them; the work after the mark goes on, and must not change them.
  virtual void to_device_beside(void* to, const void* host, std::size_t size) = 0;
  virtual void to_host_beside(void* host, const void* from, std::size_t size, const cuda::Mark& made) = 0;

  virtual bool on_device() const = 0;
};

// For nodes that make their queue where they run.
using MakeQueue = std::function<std::unique_ptr<Queue>()>;

// `size` items in the memory of a queue, which outlives them. Zeros at first.
template <class T>
class Room {
 public:
  Room() = default;
  Room(Queue& queue, std::size_t size)
      : queue_(&queue), data_(size == 0 ? nullptr : static_cast<T*>(queue.allocate(size * sizeof(T)))), size_(size) {}
  Room(Queue& queue, std::span<const T> values) : Room(queue, values.size()) { write(values); }
  Room(Room&& other) noexcept { swap(other); }
  Room& operator=(Room other) noexcept {
    swap(other);
    return *this;
  }
  ~Room() {
    if (data_ != nullptr) queue_->free(data_);
  }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }

  // The values must fit.
  void write(std::span<const T> values) {
    if (!values.empty()) queue_->to_device(data_, values.data(), values.size_bytes());
  }
  // The first values; they have arrived after the queue's wait().
  void read(std::span<T> values) const {
    if (!values.empty()) queue_->to_host(values.data(), data_, values.size_bytes());
  }

 private:
  void swap(Room& other) noexcept {
    std::swap(queue_, other.queue_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  Queue* queue_ = nullptr;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

// A queue on the host: each piece of work is done when its function returns. Kernels run on `grid`, whose threads
// follow one another; the grid changes no bit.
std::unique_ptr<Queue> host_queue(Grid grid = {});

}  // namespace lp::kernels
