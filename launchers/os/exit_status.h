#pragma once
// Describes how a process, or a node's thread, ended. A value.

#include <string>

namespace lp {

struct ExitStatus {
  int code = 0;    // the argument of exit(), when no signal ended it
  int signal = 0;  // the signal that ended it
  bool core = false;
  bool out_of_memory = false;  // the kernel killed it for memory
  bool abandoned = false;      // the thread did not end
  std::string text{};          // the reason why it could not be started, or why its agent ended it

  bool success() const { return code == 0 && signal == 0 && !abandoned && text.empty(); }
};

// "was killed by SIGKILL", "exited with code 3".
std::string describe(const ExitStatus& status);
// "SIGSEGV"
std::string signal_name(int signal);

}  // namespace lp
