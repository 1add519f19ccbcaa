#include "nodes/dataflow/memory_block.h"

#include <sys/mman.h>

#include <new>
#include <utility>

namespace lp::dataflow {

MemoryBlock::MemoryBlock(std::size_t size) {
  constexpr std::size_t kPage = 4096;
  size_ = (size + kPage - 1) / kPage * kPage;
  if (size_ == 0) return;
  void* const memory =
      ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  ::madvise(memory, size_, MADV_HUGEPAGE);  // fewer page faults, where the system allows it
  data_ = static_cast<char*>(memory);
}

MemoryBlock::MemoryBlock(MemoryBlock&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MemoryBlock& MemoryBlock::operator=(MemoryBlock&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MemoryBlock::~MemoryBlock() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

}  // namespace lp::dataflow
