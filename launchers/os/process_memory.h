#pragma once
// How much memory processes use, and whether the kernel killed some for it. Functions without state;
// Linux only.

#include <sys/types.h>

#include <cstdint>

namespace lp::internal {

// The bytes of memory that `process` has for itself: what is resident and neither of a file nor shared, and its heap of
// big arrays, which others may see. 0 when it is gone.
std::uint64_t own_memory_of(pid_t process);

// How often the kernel has killed something of our control group for memory.
long out_of_memory_kills();

}  // namespace lp::internal
