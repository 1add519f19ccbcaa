#include "launchers/observation/waits_of_run.h"

#include <string>
#include <utility>

#include "launchers/os/process_stat.h"
#include "lp/base/scheduler.h"

namespace lp::launch {
namespace {

// The agent is the parent of the processes of its host.
int stopped_agent_of(int process) {
  const auto node = process_stat("/proc/" + std::to_string(process));
  if (!node.has_value()) return 0;
  const auto agent = process_stat("/proc/" + std::to_string(node->parent));
  return agent.has_value() && agent->state == 'T' ? agent->id : 0;
}

}  // namespace

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
    const bool is_here = entry.host.empty() && entry.pid != 0;
    if (is_here && !entry.threads.has_value()) entry.stopped_agent = stopped_agent_of(entry.pid);
  }
  return record;
}

}  // namespace lp::launch
