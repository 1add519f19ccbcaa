#include "launchers/os/process_memory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <system_error>

#include "lp/base/shared_heap.h"

namespace lp::internal {
namespace {

const std::string kControlGroups = "/sys/fs/cgroup";

// Of this process, "/" and more, among those of version 2, or those of version 1 for `controller`; empty: there is
// none.
std::string own_group(const std::string& controller = {}) {
  const std::string kind = ":" + controller + ":";
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // "0::/a/b", "9:memory:/a/b"
    const std::size_t at = std::min(line.find(':'), line.size());
    if (line.compare(at, kind.size(), kind) == 0) return line.substr(at + kind.size());
  }
  return {};
}

// The pages of the heap that a process shares with its neighbours; theirs, which it sees too, are not counted.
std::uint64_t shared_heap_of(pid_t process) {
  static const std::string kHeap = "/memfd:" + std::string(SharedHeap::kName) + " (deleted)";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/fd", error)) {
    struct stat status {};
    if (std::filesystem::read_symlink(entry.path(), error) == kHeap && stat(entry.path().c_str(), &status) == 0) {
      return static_cast<std::uint64_t>(status.st_blocks) * 512;
    }
  }
  return 0;
}

}  // namespace

std::uint64_t own_memory_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/statm");
  std::uint64_t size = 0, resident = 0, shared = 0;  // in pages
  if (!(file >> size >> resident >> shared) || resident < shared) return 0;
  return (resident - shared) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) + shared_heap_of(process);
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
  const std::uint64_t all =
      static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return std::min(all, memory_limit_of(kControlGroups, own_group()));
}

long out_of_memory_kills() {
  const std::string old = kControlGroups + "/memory";
  // A container may see its own group of version 1 as the uppermost one.
  for (const std::string& file : {kControlGroups + own_group() + "/memory.events",
                                  old + own_group("memory") + "/memory.oom_control", old + "/memory.oom_control"}) {
    std::ifstream events(file);
    std::string name;
    long count = 0;
    while (events >> name >> count) {
      if (name == "oom_kill") return count;
    }
  }
  return 0;
}

}  // namespace lp::internal
