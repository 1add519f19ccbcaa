#pragma once
// How much memory there is, how much processes use, and whether the kernel killed some for it. Functions without state;
// Linux only.

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace lp::internal {

// The bytes of memory that `process` has for itself: what is resident and neither of a file nor shared, and its heap of
// big arrays, which others may see. 0 when it is gone.
std::uint64_t own_memory_of(pid_t process);

// The bytes of memory that this host, or the container around this process, has for its nodes.
std::uint64_t memory_here();

// The least memory.max of a control group (version 2) and of those around it, up to `root`; kNoLimit where none is set.
inline constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};
std::uint64_t memory_limit_of(const std::filesystem::path& root, const std::string& group);

// How often the kernel has killed something of our control group for memory.
long out_of_memory_kills();

}  // namespace lp::internal
