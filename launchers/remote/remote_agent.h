#pragma once
// An agent on another host, and the way to start it there. Values and a function; any thread.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "launchers/agent/agent_link.h"
#include "launchers/plan/hosts.h"
#include "lp/base/scheduler.h"

namespace lp::launch {

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

// The host's resources from the first message of its agent. Empty: that is no agent of lp.
std::optional<HostCapacity> capacity_of(const HostSpec& host, std::span<const std::uint8_t> greeting);

}  // namespace lp::launch
