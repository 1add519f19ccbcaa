#pragma once
// Opens panes of tmux that follow the logs of a run.

#include "launchers/run.h"

namespace lp::internal {

// Opens a pane for each process of `run` in a session with the run's name. Prints on standard error how to show it.
// Throws Error when tmux is not installed.
void open_panes(const Run& run);

}  // namespace lp::internal
