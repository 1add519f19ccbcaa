#include "lp/base/memory_limit.h"

#include <algorithm>
#include <fstream>

#include "lp/base/shared_heap.h"

namespace lp::internal {

std::string own_control_group(const std::string& controller) {
  const std::string kind = ":" + controller + ":";
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // "0::/a/b", "9:memory:/a/b"
    const std::size_t at = std::min(line.find(':'), line.size());
    if (line.compare(at, kind.size(), kind) == 0) return line.substr(at + kind.size());
  }
  return {};
}

std::uint64_t memory_limit_of(const std::filesystem::path& root, const std::string& group) {
  std::uint64_t least = kNoLimit;
  // The limits of the groups around it hold too.
  for (std::filesystem::path part = std::filesystem::path(group).relative_path();; part = part.parent_path()) {
    std::ifstream file(root / part / "memory.max");
    if (std::uint64_t limit = 0; file >> limit) least = std::min(least, limit);  // "max" is no number
    if (part.empty()) return least;
  }
}

std::uint64_t memory_here() {
  return std::min<std::uint64_t>(machine_memory(), memory_limit_of(kControlGroups, own_control_group()));
}

}  // namespace lp::internal
