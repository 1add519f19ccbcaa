#include "launchers/os/foreground_terminal.h"

#include <signal.h>
#include <unistd.h>

namespace lp::launch {

ForegroundTerminal::~ForegroundTerminal() {
  if (!lent_ || isatty(STDIN_FILENO) == 0) return;
  // The kernel stops a background process for this call, unless the process ignores the signal.
  struct sigaction ignore {};
  struct sigaction before {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGTTOU, &ignore, &before);
  tcsetpgrp(STDIN_FILENO, getpgrp());
  sigaction(SIGTTOU, &before, nullptr);
}

}  // namespace lp::launch
