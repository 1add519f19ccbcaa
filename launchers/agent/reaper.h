#pragma once
// The warden of an agent: a process that does nothing but wait for the agent to be killed. Then it kills what the agent
// can no longer find: what nodes have started and sent into sessions of their own. The launcher would do the same, but
// may have been killed in the same moment, by `pkill -9` of the program's name for instance: the warden has another.

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace lp::internal {

// Starts the warden of this process, which has one thread, for processes with `mark` in their environment, and for the
// agent's own directory, which it removes then; empty: there is none. It has nothing open. Returns its pid; -1: there
// is none, which is said on standard error, and everything else works.
pid_t start_warden(const std::string& mark, const std::filesystem::path& directory);

}  // namespace lp::internal
