#pragma once
// How much memory this process may use: that of the machine, or of the container around it. Functions without state;
// Linux only.

#include <cstdint>
#include <filesystem>
#include <string>

namespace lp::internal {

// The bytes of memory that this host, or the container around this process, has.
std::uint64_t memory_here();

// The least memory.max of a control group (version 2) and of those around it, up to `root`; kNoLimit where none is set.
inline constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};
std::uint64_t memory_limit_of(const std::filesystem::path& root, const std::string& group);

// The control group of this process, "/" and more, among those of version 2, or those of version 1 for `controller`;
// empty: there is none. And where they are.
std::string own_control_group(const std::string& controller = {});
inline constexpr const char* kControlGroups = "/sys/fs/cgroup";

}  // namespace lp::internal
