#pragma once
// One peer, running: services and callers in processes of their own, until the Session's end. Used by one thread.

#include <vector>

#include "tests/bench/rpc/measure.h"

namespace lp::bench {

class Session {
 public:
  virtual ~Session() = default;

  // The first `callers` callers do `work`, at once; the Figures of each. Throws Error.
  virtual std::vector<Figures> measure(const Work& work, int callers) = 0;

  virtual std::vector<int> services() const = 0;  // their processes
  virtual std::vector<int> callers() const = 0;
};

// The number of processes of a session. A caller is connected to every service.
struct Size {
  int services = 1;
  int callers = 1;
};

}  // namespace lp::bench
