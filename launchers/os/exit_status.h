#pragma once
// How a process, or a node's thread, ended. A value.

#include <string>

namespace lp {

struct ExitStatus {
  int code = 0;    // what it gave to exit(), when no signal ended it
  int signal = 0;  // that ended it
  bool core = false;
  bool out_of_memory = false;  // the kernel killed it for memory
  bool abandoned = false;      // a thread that did not end
  std::string text{};          // why it could not be started, or was ended by its agent

  bool success() const { return code == 0 && signal == 0 && !abandoned && text.empty(); }
};

// "was killed by SIGKILL", "exited with code 3".
std::string describe(const ExitStatus& status);
// "SIGSEGV"
std::string signal_name(int signal);

}  // namespace lp
