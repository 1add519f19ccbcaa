#pragma once
// The first process on a host where an engine starts agents, and does not bring them to the coordinator: dials its
// Reception, and when that has answered runs the host's agent, whose standard input and output are the stream that
// leads there. Who starts it gives it, by the environment:
//
//   LP_COORDINATOR  where that listens: tcp://coordinator.digits-7f3a:7077
//   LP_KEYS         file with its keys; -: they come on standard input, as a line for each host, and an empty one
//
// Functions without state.

#include <iosfwd>
#include <string>
#include <vector>

#include "lp/base/scheduler.h"
#include "lp/rpc/core/curve.h"

namespace lp::internal {

inline constexpr const char* kCoordinatorVariable = "LP_COORDINATOR";
inline constexpr const char* kKeysVariable = "LP_KEYS";
inline constexpr const char* kKeysFromInput = "-";

// What the engine hands over in private, as a file of words: our public and our secret key, and the public keys of
// those whom we talk to: the agents in their order, or the coordinator alone.
struct ReceptionKeys {
  CurveKeys own{};
  std::vector<std::string> others{};
};
ReceptionKeys read_keys(const std::string& path);  // Throws Error when it is not as it should be.
std::string to_text(const ReceptionKeys& keys);

// One host of those whose keys come together: "n1 n1 KEY KEY KEY".
struct HostKeys {
  std::string host{};  // as the engine knows it
  std::string name{};  // as the run does
  ReceptionKeys keys{};
};
HostKeys read_keys_of(const std::string& host, std::istream& lines);  // Throws Error when they are not there.
std::string to_text(const HostKeys& keys);

struct Dial {
  std::string coordinator{};  // "tcp://coordinator.digits-7f3a:7077"; the name need not be known yet
  std::string run{};
  std::string host{};  // this one
  ReceptionKeys keys{};
  Duration patience = std::chrono::minutes(5);  // for the coordinator to answer
};

// Returns the exit code of the process: 0 when the run is over, so that nobody shall start it again; kForsaken as
// run_agent_there does. SIGTERM ends it, with all that the agent has started. To be called before there are threads.
int dial_and_run_agent(const Dial& dial);

// The same for what the environment says, which the agent and its nodes do not see any more. `who` is RUN@HOST.
int dial_as_asked(const std::string& who);

// What was put into the environment for this process. Throws Error when it was not.
std::string handed_over(const char* variable);

}  // namespace lp::internal
