#pragma once
// The metrics of a whole run as Prometheus reads them. It keeps the newest measurement of each process as text, so that
// an answer costs little more than its copy. README.md lists the metrics.
//
// The loop thread of a run owns and uses it.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "launchers/control/measurement.h"
#include "launchers/metrics/call_metrics.h"
#include "launchers/metrics/node_metrics.h"
#include "launchers/record/status.h"
#include "launchers/supervisor/supervision_graph.h"

namespace lp::launch {

class RunMetrics {
 public:
  // The knowledge of the launcher beside the measurements.
  struct Picture {
    RunStatus status{};
    std::string program{};
    ProcessUse launcher{};
    std::uint64_t launcher_shared = 0;  // bytes of its shared memory
    double cut_time = 0;                // seconds since 1970 at which the last cut was complete; 0: there was none yet
  };

  explicit RunMetrics(const SupervisionGraph& graph);

  void on_measured(std::size_t process, const Measurement& part);
  std::string text(const Picture& picture) const;

 private:
  struct Process {
    std::optional<ProcessUse> use{};
    std::uint64_t left_out = 0;
    std::uint64_t shared_memory = 0;
  };

  void write_run(std::string& text, const Picture& picture) const;
  void write_nodes(std::string& text, const RunStatus& status) const;
  void write_progress(std::string& text, const RunStatus& status) const;
  void write_processes(std::string& text, const Picture& picture) const;

  const SupervisionGraph& graph_;
  std::vector<Process> processes_;
  std::vector<std::string> labels_;  // by node: its group and name
  CallMetrics calls_;
  NodeMetrics nodes_;
};

}  // namespace lp::launch
