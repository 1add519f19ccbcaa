#pragma once
// An event of a node, on its way from the node's Runtime to the supervisor of the run. A value; it also travels between
// processes (launchers/control/node_events.h).

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/scheduler.h"
#include "lp/program/progress.h"
#include "lp/wire/node_id.h"

namespace lp {

struct NodeEvent {
  struct Ready {           // it is constructed and loaded, and serves
    std::string endpoint;  // the address at which other processes call it; empty: they cannot
  };
  struct Answer {
    NodeId callee = 0;
    std::uint32_t incarnation = 0;  // the newest one that has answered this node
  };
  struct Finished {  // run() returned
    std::vector<Answer> answers{};
  };
  struct Failed {  // in the constructor, load, run or save
    Error error;
    bool for_good = false;  // Context::fail_program was called: no restart helps
  };
  struct StopRequested {  // Context::stop_program was called
    std::string reason;
  };
  // Its part of the cut `step` is durable on disk. The supervisor must permit the next one, now or later.
  struct Saved {
    std::uint64_t step;
  };
  struct NotSaved {  // a full disk, for instance: earlier cuts stay
    std::uint64_t step;
    std::string text;
  };
  struct Alive {};  // the answer to a probe
  // Comes before Alive where the probe waits for the service's turn: the work that has the turn, and its age.
  struct Busy {
    std::string work;  // "pull(), called by worker/1"
    Duration age;
  };
  using What = std::variant<Ready, Finished, Failed, StopRequested, Progress, Saved, NotSaved, Alive, Busy>;

  NodeId node = 0;
  std::uint32_t incarnation = 0;
  What what{};
};

}  // namespace lp
