#pragma once
// Takes the stacks of a node process without waiting: the command that reads them prints into a pipe. The agent owns it
// and uses it in its one thread. The agent reaps the command.

#include <sys/types.h>

#include <string>
#include <vector>

#include "launchers/control/measurement.h"
#include "launchers/os/thread_states.h"
#include "lp/base/descriptor.h"

namespace lp::launch {

class StackTaker {
 public:
  // Starts the command. If that is impossible, fd() is -1 and result() has the reason.
  explicit StackTaker(pid_t process);

  int fd() const { return pipe_.number(); }
  // Reads what is there. Returns false when the command has ended, or prints too much.
  bool read();
  // Call it at the end.
  Stacks result() const;

 private:
  const std::vector<ThreadState> threads_;  // before the command
  Descriptor pipe_;
  std::string printed_;
};

}  // namespace lp::launch
