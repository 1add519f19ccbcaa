#pragma once
// The first process on a host where an engine starts agents, but does not connect them to the coordinator. It dials
// the coordinator's AgentAcceptor. After the answer it runs the host's agent, whose standard input and output are the
// stream that leads there. The engine sets these variables in its environment:
//
//   LP_COORDINATOR  the address of the coordinator: tcp://coordinator.digits-7f3a:7077
//   LP_KEYS         the file with its keys; -: they come on standard input, as a line for each host, and an empty one
//
// Functions without state.

#include <iosfwd>
#include <string>
#include <vector>

#include "lp/base/scheduler.h"
#include "lp/rpc/core/curve_keys.h"

namespace lp::launch {

inline constexpr const char* kCoordinatorVariable = "LP_COORDINATOR";
inline constexpr const char* kKeysVariable = "LP_KEYS";
inline constexpr const char* kKeysFromInput = "-";

// The keys that the engine passes on in private, as a file of words: our public and secret key, and the public keys of
// our peers. The peers are the agents in their order, or the coordinator alone.
struct AcceptorKeys {
  CurveKeys own{};
  std::vector<std::string> others{};
};
AcceptorKeys read_keys(const std::string& path);  // throws Error when the file is malformed
std::string to_text(const AcceptorKeys& keys);

// The keys of one host, from lines for several hosts: "n1 n1 KEY KEY KEY".
struct HostKeys {
  std::string host{};  // its name in the engine
  std::string name{};  // its name in the run
  AcceptorKeys keys{};
};
HostKeys read_keys_of(const std::string& host, std::istream& lines);  // throws Error when they are missing
std::string to_text(const HostKeys& keys);

struct DialOptions {
  std::string coordinator{};  // "tcp://coordinator.digits-7f3a:7077"; the name may still be unknown
  std::string run{};
  std::string host{};  // the name of this host
  AcceptorKeys keys{};
  Duration patience = std::chrono::minutes(5);  // for the coordinator's first answer
};

// Returns the exit code of the process. It is 0 when the run is over, so that the engine does not start the process
// again, and kForsaken as in run_agent_there. SIGTERM ends the process with all that the agent has started. Call it
// before there are threads.
int dial_and_run_agent(const DialOptions& dial);

// Dials with the settings of the environment. The agent and its nodes do not see these variables. `who` is RUN@HOST.
int dial_as_asked(const std::string& who);

// The value of a variable that was set for this process. Throws Error when it was not set.
std::string handed_over(const char* variable);

}  // namespace lp::launch
