#pragma once
// Where the agents of a run's other hosts come in when nothing brings us to them: they dial one socket with CURVE,
// and each has a key of its own. Whoever has none gets nothing, and takes neither memory nor descriptors (TcpGuard). Of
// each agent comes a stream, as if ssh had led to it.
//
// Owned by the run. It has a thread of its own, which calls `arrived`; everything else is for the owner.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "lp/base/descriptor.h"
#include "lp/base/function.h"
#include "lp/base/scheduler.h"
#include "lp/rpc/core/curve.h"

namespace lp::internal {

class Reception {
 public:
  struct Options {
    std::string address{};              // of this host, to listen at
    int port = 0;                       // 0: a free one
    CurveKeys keys{};                   // ours
    std::vector<std::string> agents{};  // their public keys
    std::chrono::seconds lease{10};     // an agent that does not hear of us for so long ends
  };
  // The agent of this index has dialed; `stream` is a socket that leads to it. Of two that have its key, as when the
  // pod of one is replaced, the first stays and the other waits, until the owner closes the stream or its connection
  // ends.
  using Arrived = Function<void(std::size_t agent, Descriptor stream)>;

  // Throws Error when it cannot listen.
  Reception(Options options, Arrived arrived);
  // The owner has closed the streams. Waits until every agent has ended whose stream was there at finish(), for a few
  // seconds at most.
  ~Reception();
  Reception(const Reception&) = delete;
  Reception& operator=(const Reception&) = delete;

  // "tcp://10.0.0.5:7077"
  const std::string& endpoint() const;
  // The run is over: agents whose streams end from now on shall not dial again.
  void finish();

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace lp::internal
