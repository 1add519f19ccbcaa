#pragma once
// Panes of tmux that follow the logs of a run.

#include <filesystem>
#include <string>

#include "launchers/plan.h"

namespace lp::internal {

// Opens a pane for each node of `plan`, in a session (inside tmux: in windows) of this name, and says on standard error
// how to see it. Throws Error when there is no tmux.
void open_panes(const std::string& run, const Plan& plan, const std::filesystem::path& logs);

}  // namespace lp::internal
