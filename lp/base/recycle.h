#pragma once
// Memory for the small objects that calls are made of: what one call gives back, the next one takes, so that calls cost
// no heap allocation in the steady state. Kept by each thread, and by the process for those that only take or only
// give. Thread-safe.

#include <cstddef>
#include <new>

namespace lp {

inline constexpr std::size_t kLargestRecycled = 1024;

// `size` bytes, aligned as operator new aligns; of the heap when they are more than kLargestRecycled. Throws
// std::bad_alloc.
void* take_memory(std::size_t size);
// Gives back what take_memory(size) gave.
void give_memory(void* memory, std::size_t size) noexcept;

// A base of classes whose objects are made of such memory.
class Recycled {
 public:
  static void* operator new(std::size_t size) { return take_memory(size); }
  static void operator delete(void* memory, std::size_t size) noexcept { give_memory(memory, size); }
  // Those that ask for more alignment are the heap's.
  static void* operator new(std::size_t size, std::align_val_t alignment) { return ::operator new(size, alignment); }
  static void operator delete(void* memory, std::size_t, std::align_val_t alignment) noexcept {
    ::operator delete(memory, alignment);
  }
  static void* operator new(std::size_t, void* place) noexcept { return place; }
};

}  // namespace lp
