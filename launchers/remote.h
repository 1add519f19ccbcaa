#pragma once
// Agents on other hosts. An engine that can run a command there, with our socket as its standard input and output, is
// all that is needed: nothing listens, and what travels is as private as the engine makes it. The binary is copied to
// ~/.cache/lp on the host, unless it has the same bytes there, or at the same path as here.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "launchers/agent_link.h"
#include "launchers/hosts.h"

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
                                            const RemoteOptions& options);

// `text` as one word of a shell.
std::string shell_word(const std::string& text);

// By the system's ssh; `words` is the command with its options: "ssh -F my_config". Asks nothing of a terminal.
CommandThere by_ssh(const std::string& words);

}  // namespace lp::internal
