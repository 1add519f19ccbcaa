#pragma once
// The nodes of a run, wherever they are: the executor that the coordinator commands, and the runtime through which code
// outside of the graph calls them.
//
// The run owns it. Its loop thread uses it; any thread may call the constructor.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "launchers/os/event_loop.h"
#include "launchers/os/terminal.h"
#include "launchers/plan/launch.h"
#include "launchers/record/status.h"
#include "launchers/supervisor/executor.h"
#include "launchers/supervisor/supervision_graph.h"
#include "lp/base/scheduler.h"
#include "lp/program/runtime.h"

namespace lp::launch {

// The parts of a run that its nodes use, and that outlive them.
struct RunParts {
  const Launch& launch;
  const SupervisionGraph& graph;
  const std::string& mark;  // marks the run's processes
  EventLoop& loop;
  Terminal* terminal;  // null: nothing is shown
};

class RunNodes {
 public:
  virtual ~RunNodes() = default;

  virtual Executor& executor() = 0;
  virtual Runtime& runtime() = 0;
  virtual void attach(ExecutorEvents& events) = 0;
  // Takes news of nodes for callers outside of the graph.
  virtual void update(std::span<const PeerState> peers) = 0;
  // From this phase on callers outside of the graph are refused, because services stop or have ended.
  virtual Phase closing_phase() const = 0;
  // The run has ended: ends everything that the nodes have left behind, and closes the loop.
  virtual void finish() = 0;

  // The host of the process, or its last one; empty: this host, or none.
  virtual std::string host_of(std::size_t) const { return {}; }
  // While output is held, nodes that print wait. Returns true if nodes wait now.
  virtual bool hold_output(bool) { return false; }
  // The last lines that the process has printed on standard error.
  virtual std::vector<std::string> last_lines(std::size_t) const { return {}; }
  // When advance() is due.
  virtual Time next() const { return kNever; }
  virtual void advance(Time) {}
};

}  // namespace lp::launch
