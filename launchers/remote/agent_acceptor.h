#pragma once
// Accepts the agents of a run's other hosts where no engine connects us to them. They dial one socket with CURVE, and
// each has a key of its own. A stranger without a key gets no answer, and uses neither memory nor descriptors
// (Authenticator). Each agent is passed on as a stream, as if ssh had led to it.
//
// The run owns it. It has a thread of its own, which calls `arrived`; only the owner calls the rest.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "lp/base/descriptor.h"
#include "lp/base/function.h"
#include "lp/base/scheduler.h"
#include "lp/rpc/core/curve_keys.h"

namespace lp::launch {

class AgentAcceptor {
 public:
  struct Options {
    std::string address{};              // the address of this host at which it listens
    int port = 0;                       // 0: a free one
    CurveKeys keys{};                   // our own keys
    std::vector<std::string> agents{};  // their public keys
    std::chrono::seconds lease{10};     // an agent that gets no message from us for so long ends
  };
  // The agent of this index has dialed; `stream` is a socket that leads to it. Two agents may have the same key, for
  // example when a pod is replaced. Then the first one stays, and the other one waits until the owner closes the stream
  // or the first connection ends.
  using Arrived = Function<void(std::size_t agent, Descriptor stream)>;

  // Throws Error when it cannot listen.
  AgentAcceptor(Options options, Arrived arrived);
  // Call it after the streams are closed. It waits, a few seconds at most, until every agent has ended whose stream was
  // open at finish().
  ~AgentAcceptor();
  AgentAcceptor(const AgentAcceptor&) = delete;
  AgentAcceptor& operator=(const AgentAcceptor&) = delete;

  // "tcp://10.0.0.5:7077"
  const std::string& endpoint() const;
  // The run is over: agents whose streams end from now on shall not dial again.
  void finish();

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace lp::launch
