#pragma once
// The one way in which ssh is used, by a run for its agents and by the lp command for a run on another host. Functions
// without state.

#include <string>
#include <vector>

namespace lp::internal {

// The command that runs `line` with a shell of the host. `words` is ssh with its options: "ssh -F my_config"; empty:
// ssh. It needs no terminal.
std::vector<std::string> ssh_command(const std::string& words, const std::string& host, const std::string& line);

}  // namespace lp::internal
