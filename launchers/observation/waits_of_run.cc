#include "launchers/observation/waits_of_run.h"

#include <utility>

#include "lp/base/scheduler.h"

namespace lp::launch {

WaitsRecord waits_of_run(const SupervisionGraph& graph, RunStatus status,
                         const std::map<std::size_t, Measurement>& parts) {
  WaitsRecord record{.time = to_seconds(now().time_since_epoch()), .status = std::move(status)};
  for (const auto& [process, measurement] : parts) {
    WaitsRecord::Process& entry = record.processes.emplace_back();
    for (const NodeId node : graph.processes[process].nodes) {
      entry.nodes.push_back(graph.nodes[node].name);
      entry.host = record.status.nodes[node].host;
      entry.pid = record.status.nodes[node].pid;
    }
    entry.waits = measurement.waits;
    entry.threads = measurement.threads;
  }
  return record;
}

}  // namespace lp::launch
