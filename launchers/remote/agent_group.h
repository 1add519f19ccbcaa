#pragma once
// The agents that one engine has started for a run, and the part of the engine that keeps them. Values and an
// interface.

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "launchers/plan/agent_starter.h"
#include "launchers/remote/remote_agents.h"
#include "lp/base/descriptor.h"
#include "lp/base/function.h"

namespace lp::internal {

struct AgentStartOptions {
  const RemoteOptions& remote;
  const Executable& binary;              // for hosts that have no copy
  std::span<const HostCapacity> others;  // the hosts of the run that have agents already
};

// Keeps the agents of an engine while a run lives. The run owns it; its thread makes and ends it.
class AgentSource {
 public:
  // An agent of the group has dialed: its number, and a socket that leads to it.
  using Arrived = Function<void(std::size_t agent, Descriptor stream)>;

  // Ends the agents whose links have ended, and waits for their end.
  virtual ~AgentSource() = default;
  // From now on any thread calls `arrived` for each agent that dials, now or again. Throws Error when none can.
  virtual void attach(Arrived arrived) { static_cast<void>(arrived); }
  // The run is over: agents whose links end from now on end with it.
  virtual void finish() = 0;
};

struct AgentGroup {
  std::unique_ptr<AgentSource> source{};  // null: nothing keeps them; it ends after them
  std::vector<RemoteAgent> agents{};      // one on each host; an address that is empty is LaunchOptions::listen
  CommandThere command{};                 // dials the hosts that come back; empty: there are none
  std::vector<std::size_t> components{};  // by process of the plan: the component of its host; empty: any
  bool dedicated = false;                 // by process of the plan: a host for each, which has what the process needs
};

}  // namespace lp::internal
