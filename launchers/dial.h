#pragma once
// The first process on a host where no engine brings the coordinator: dials its Reception, and when that has answered
// runs the host's agent, whose standard input and output are the stream that leads there. Functions without state.

#include <string>
#include <vector>

#include "lp/base/scheduler.h"
#include "lp/rpc/curve.h"

namespace lp::internal {

// What the engine hands over in private, as a file of words: our public and our secret key, and the public keys of
// those whom we talk to: the agents in their order, or the coordinator alone.
struct ReceptionKeys {
  CurveKeys own{};
  std::vector<std::string> others{};
};
ReceptionKeys read_keys(const std::string& path);  // Throws Error when it is not as it should be.
std::string to_text(const ReceptionKeys& keys);

struct Dial {
  std::string coordinator{};  // "tcp://coordinator.digits-7f3a:7077"; the name need not be known yet
  std::string run{};
  std::string host{};  // this one
  ReceptionKeys keys{};
  Duration patience = std::chrono::minutes(5);  // for the coordinator to answer
};

// Returns the exit code of the process: 0 when the run is over, so that nobody shall start it again. SIGTERM ends it,
// with all that the agent has started. To be called before there are threads.
int dial_and_run_agent(const Dial& dial);

}  // namespace lp::internal
