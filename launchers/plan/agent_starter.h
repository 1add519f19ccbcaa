#pragma once
// How an engine starts the agents of its hosts. The processes of a run may have agents of several engines. An interface
// without state; any thread may use it.

#include <vector>

#include "launchers/plan/hosts.h"

namespace lp::internal {

struct AgentGroup;
struct AgentStartOptions;
struct Launch;

class AgentStarter {
 public:
  virtual ~AgentStarter() = default;
  // The hosts that start() will have, as far as they are known. A host of unknown resources has all that the program
  // asks for (ample_host); one of an unknown name has none.
  virtual std::vector<HostCapacity> hosts(const Launch& launch) const = 0;
  // Starts an agent on each host that runs groups of the launch by this engine. Throws Error when one cannot be
  // started; then nothing is left running.
  virtual AgentGroup start(const Launch& launch, const AgentStartOptions& options) const = 0;
};

}  // namespace lp::internal
