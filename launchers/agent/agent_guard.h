#pragma once
// The guard of an agent: a process that only waits for the agent to be killed. Then it kills the processes that the
// agent can no longer find, because nodes have started them in sessions of their own. The launcher does the same, but
// somebody may kill it at the same moment, for example with `pkill -9` and the program's name. The guard has another
// name.

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace lp::launch {

// Starts the guard of this process, which has one thread. The guard kills processes with `mark` in their environment.
// It also removes `directory`, the agent's own; empty: there is none. It has no open descriptors. Returns its pid, or
// -1 when it could not be started; that is reported on standard error, and everything else works.
pid_t start_agent_guard(const std::string& mark, const std::filesystem::path& directory);

}  // namespace lp::launch
