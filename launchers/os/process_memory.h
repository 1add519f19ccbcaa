#pragma once
// How much memory processes use, and whether the kernel killed some for it. Functions without state;
// Linux only.

#include <sys/types.h>

#include <cstdint>

namespace lp::launch {

// The bytes of memory that only `process` has: resident memory that is neither a file's nor shared, and its heap of big
// arrays, which other processes may map. Returns 0 when the process has ended.
std::uint64_t own_memory_of(pid_t process);

// How often the kernel has killed something of our control group for memory.
long out_of_memory_kills();

}  // namespace lp::launch
