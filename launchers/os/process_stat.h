#pragma once
// The line by which the system describes a process or a thread: proc(5), /proc/PID/stat. A function; any thread.

#include <sys/types.h>

#include <optional>
#include <string>

namespace lp::launch {

struct ProcessStat {
  int id = 0;
  std::string name{};  // the program's or the thread's, with any characters
  char state = 0;      // the kernel's letter: R runs or would, S sleeps, D waits for a device, T and t are stopped
  pid_t parent = 0;
  double cpu = 0;  // seconds, of the user and the system
};

// `directory` is below /proc: "/proc/7" or "/proc/7/task/8". Returns nothing if there is no such process or thread.
std::optional<ProcessStat> process_stat(const std::string& directory);

}  // namespace lp::launch
