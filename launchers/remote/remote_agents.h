#pragma once
// Agents on other hosts. A command, such as ssh, runs there with our socket as its standard input and output, so
// nothing listens, and the traffic is as private as the command makes it. A host without the binary gets a copy
// (executable.h).

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "launchers/agent/agent_link.h"
#include "launchers/os/executable.h"
#include "launchers/plan/hosts.h"

namespace lp::internal {

// Returns the command that runs `line` with /bin/sh on the host.
using CommandThere = std::function<std::vector<std::string>(const HostSpec& host, const std::string& line)>;

struct RemoteAgent {
  std::unique_ptr<AgentLink> link{};
  HostCapacity capacity{};
};

struct RemoteOptions {
  std::string mark{};                           // marks its processes: run_mark()
  Duration lease = std::chrono::seconds(10);    // after a silence of this length, launcher and agent give each other up
  Duration patience = std::chrono::minutes(5);  // the time in which all agents must start
};

// Starts one agent on each host, all at the same time. Throws one Error that has a line for every host that failed,
// with the engine's message; then nothing is left running.
std::vector<RemoteAgent> start_agents_there(const std::vector<HostSpec>& hosts, const CommandThere& command,
                                            const RemoteOptions& options, const Executable& binary = Executable());

// The host's resources from the first message of its agent. Empty: that is no agent of lp.
std::optional<HostCapacity> capacity_of(const HostSpec& host, std::span<const std::uint8_t> greeting);

}  // namespace lp::internal
