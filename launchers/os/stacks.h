#pragma once
// The native stacks of all threads of a process, from eu-stack of elfutils. It stops one thread at a time, for the
// moment in which it reads that thread's stack. Functions; any thread.

#include <sys/types.h>

#include <span>
#include <string>
#include <vector>

#include "launchers/os/thread_states.h"
#include "lp/base/scheduler.h"

namespace lp::launch {

inline constexpr Duration kStacksLimit = std::chrono::seconds(8);

// The command that prints the stacks of a process of this user. It ends within kStacksLimit. It leaves no thread
// stopped, also when eu-stack does not end in time, unless the process was stopped before.
std::vector<std::string> stacks_command(pid_t process, std::span<const ThreadState> threads);

// Returns the stacks in its output, with the names of the threads and their states beside their numbers, and whether
// some are missing. Take the states before the command runs: it interrupts the waits of the threads, and the kernel
// forgets the names of those. Throws Error, with the reason, when there are no stacks.
std::string stacks_text(std::span<const ThreadState> threads, const std::string& printed);

}  // namespace lp::launch
