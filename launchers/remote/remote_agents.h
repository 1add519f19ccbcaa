#pragma once
// Agents on other hosts. A command, such as ssh, runs there with our socket as its standard input and output, so
// nothing listens, and the traffic is as private as the command makes it. A host without the binary gets a copy
// (executable.h).

#include <vector>

#include "launchers/os/executable.h"
#include "launchers/plan/hosts.h"
#include "launchers/remote/remote_agent.h"

namespace lp::launch {

// Starts one agent on each host, all at the same time. Throws one Error that has a line for every host that failed,
// with the engine's message; then nothing is left running.
std::vector<RemoteAgent> start_agents_there(const std::vector<HostSpec>& hosts, const CommandThere& command,
                                            const RemoteOptions& options, const Executable& binary = Executable());

}  // namespace lp::launch
