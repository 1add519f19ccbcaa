#pragma once
// A block of memory whose pages come from the system when they are first used, as zeros. A resource that moves.

#include <cstddef>

namespace lp::dataflow {

class MemoryBlock {
 public:
  // The size is rounded up to whole pages. Throws std::bad_alloc.
  explicit MemoryBlock(std::size_t size);
  MemoryBlock(MemoryBlock&& other) noexcept;
  MemoryBlock& operator=(MemoryBlock&& other) noexcept;
  ~MemoryBlock();

  char* data() { return data_; }
  const char* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace lp::dataflow
