#pragma once
// Reads how much memory there is, how much processes use, and whether the kernel has killed processes for memory.
// Functions without state; Linux only.

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace lp::internal {

// The bytes of memory that only `process` has: resident memory that is neither a file's nor shared, and its heap of big
// arrays, which other processes may map. Returns 0 when the process has ended.
std::uint64_t own_memory_of(pid_t process);

// The bytes of memory that this host, or the container around this process, offers to its nodes.
std::uint64_t memory_here();

// The smallest memory.max of a control group (version 2) and of its parents up to `root`; kNoLimit where none is set.
inline constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};
std::uint64_t memory_limit_of(const std::filesystem::path& root, const std::string& group);

// The number of processes in our control group that the kernel has killed for memory.
long out_of_memory_kills();

}  // namespace lp::internal
