#pragma once
// Panes of tmux that follow the logs of a run.

#include "launchers/run.h"

namespace lp::internal {

// Opens a pane for each process of `run`, in a session of its name, and says on standard error how to see it. Throws
// Error when there is no tmux.
void open_panes(const Run& run);

}  // namespace lp::internal
