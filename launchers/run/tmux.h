#pragma once
// Opens panes of tmux that follow the logs of a run.

#include <filesystem>
#include <string>
#include <vector>

namespace lp::internal {

// Opens a pane for each of the processes, in a session with the run's name. Prints on standard error how to show it.
// Throws Error when tmux is not installed.
void open_panes(const std::string& run, const std::filesystem::path& directory,
                const std::vector<std::string>& processes);

}  // namespace lp::internal
