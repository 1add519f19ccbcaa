#pragma once
// Memory for the small objects of calls. One call takes the memory that another gave back, so calls cost no heap
// allocation in the steady state. Each thread keeps some, and the process keeps some for threads that only take or only
// give. Thread-safe.

#include <cstddef>
#include <new>

namespace lp {

inline constexpr std::size_t kLargestRecycled = 1024;

// Returns `size` bytes, aligned as operator new aligns. More than kLargestRecycled bytes come from the heap. Throws
// std::bad_alloc.
void* take_memory(std::size_t size);
// Gives back memory that take_memory(size) returned.
void give_memory(void* memory, std::size_t size) noexcept;

// A base of classes whose objects live in such memory.
class Recycled {
 public:
  static void* operator new(std::size_t size) { return take_memory(size); }
  static void operator delete(void* memory, std::size_t size) noexcept { give_memory(memory, size); }
  // Objects that need a larger alignment live on the heap.
  static void* operator new(std::size_t size, std::align_val_t alignment) { return ::operator new(size, alignment); }
  static void operator delete(void* memory, std::size_t, std::align_val_t alignment) noexcept {
    ::operator delete(memory, alignment);
  }
  static void* operator new(std::size_t, void* place) noexcept { return place; }
};

}  // namespace lp
