#pragma once
// What the threads of a process do, as its kernel sees it: also of a process that hangs or is stopped. A function; any
// thread.

#include <sys/types.h>

#include <string>
#include <vector>

namespace lp::launch {

struct ThreadState {
  int id = 0;  // the kernel's number
  std::string name{};
  std::string state{};  // the kernel's letter: R runs or would, S sleeps, D waits for a device, T and t are stopped
  // The system call in which it sleeps, by name, or "system call 450"; empty: none, or it is not readable.
  std::string call{};
  std::string file{};  // the file that the call reads, writes or syncs; empty: none
  int lock_owner = 0;  // the thread that has the mutex for which it waits; 0: it waits for none
  // The seconds in which it had a processor since it began, and in which it waited for one. The kernel adds a wait when
  // it ends.
  double ran = 0;
  double starved = 0;
};

// The threads of the process, at most 1000; none when it has ended. The process must be this one, or a child.
std::vector<ThreadState> thread_states(pid_t process);

}  // namespace lp::launch
