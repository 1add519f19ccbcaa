#include "launchers/os/exit_status.h"

#include <cstring>

namespace lp {

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name == nullptr ? "signal " + std::to_string(signal) : std::string("SIG") + name;
}

std::string describe(const ExitStatus& status) {
  if (!status.text.empty()) return status.text;
  if (status.abandoned) return "did not end; its thread was abandoned";
  if (status.out_of_memory) return "was killed by the kernel because memory ran out (OOMKilled)";
  if (status.signal != 0) {
    return "was killed by signal " + std::to_string(status.signal) + " (" + signal_name(status.signal) + ")" +
           (status.core ? ", core dumped" : "");
  }
  return "exited with code " + std::to_string(status.code);
}

}  // namespace lp
