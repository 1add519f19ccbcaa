#pragma once
// Agents on other hosts. Where a command can be run, with our socket as its standard input and output, nothing else is
// needed: nothing listens, and what travels is as private as the engine makes it. The binary is copied to a host that
// has none (executable.h).

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

// The command that runs `line` with /bin/sh on the host.
using CommandThere = std::function<std::vector<std::string>(const HostSpec& host, const std::string& line)>;

struct RemoteAgent {
  std::unique_ptr<AgentLink> link{};
  HostCapacity capacity{};
};

struct RemoteOptions {
  std::string mark{};                           // of its processes: run_mark()
  Duration lease = std::chrono::seconds(10);    // launcher and agent that do not hear of each other for so long part
  Duration patience = std::chrono::minutes(5);  // for all agents to be there
};

// One agent on each host, all at the same time. Throws one Error that has a line for every host that failed, with what
// the engine said; then nothing is left running.
std::vector<RemoteAgent> start_agents_there(const std::vector<HostSpec>& hosts, const CommandThere& command,
                                            const RemoteOptions& options, const OwnBinary& binary = OwnBinary());

// What the host has, by the first message of its agent. Empty: that is no agent of lp.
std::optional<HostCapacity> capacity_of(const HostSpec& host, std::span<const std::uint8_t> greeting);

// By the system's ssh; `words` is the command with its options: "ssh -F my_config". Asks nothing of a terminal.
CommandThere by_ssh(const std::string& words);

}  // namespace lp::internal
