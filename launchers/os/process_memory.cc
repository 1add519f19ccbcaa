#include "launchers/os/process_memory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "lp/base/memory_limit.h"
#include "lp/base/shared_heap.h"

namespace lp::launch {
namespace {

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

long out_of_memory_kills() {
  const std::string all = internal::kControlGroups;
  const std::string old = all + "/memory";
  // A container may see its own group of version 1 as the uppermost one.
  for (const std::string& file :
       {all + internal::own_control_group() + "/memory.events",
        old + internal::own_control_group("memory") + "/memory.oom_control", old + "/memory.oom_control"}) {
    std::ifstream events(file);
    std::string name;
    long count = 0;
    while (events >> name >> count) {
      if (name == "oom_kill") return count;
    }
  }
  return 0;
}

}  // namespace lp::launch
