#pragma once
// The waits of a run: those that its nodes have recorded, and the states of their threads, from the kernels of their
// hosts. They are gathered only when somebody asks. A value that to_json and from_json know, and its parts in control
// messages.

#include <optional>
#include <string>
#include <vector>

#include "launchers/os/thread_states.h"
#include "launchers/record/status.h"
#include "lp/rpc/observation/waits.h"

namespace lp {

// The answer of a run to "waits".
struct WaitsRecord {
  struct Process {
    std::vector<std::string> nodes{};
    std::string host{};                                         // empty: the launcher's
    int pid = 0;                                                // 0: its nodes are threads of the launcher
    std::optional<ProcessWaits> waits{};                        // nothing: the process has not answered
    std::optional<std::vector<launch::ThreadState>> threads{};  // nothing: the agent of its host has not answered
    int stopped_agent = 0;  // the process of that agent, where a signal has stopped it on the launcher's host; 0: none
  };
  double time = 0;  // seconds on a monotonic clock
  RunStatus status{};
  std::vector<Process> processes{};
};

namespace launch {

// As texts for control messages, which have a limit: of more calls than fit, some are left out.
std::string pack_waits(ProcessWaits waits);
std::string pack_threads(std::vector<ThreadState> threads);

}  // namespace launch
}  // namespace lp
