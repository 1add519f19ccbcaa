#include "launchers/metrics/run_metrics.h"

#include <string_view>
#include <utility>

#include "launchers/metrics/metric_text.h"
#include "lp/base/enums.h"
#include "lp/base/text.h"

namespace lp::launch {
namespace {

using Kind = MetricSample::Kind;

// One series, with its head.
template <class Number>
void write_alone(std::string& text, const MetricName& metric, const std::string& labels, Number value) {
  write_head(text, metric);
  write_series(text, metric.name, labels, value);
}

// A series for each node, of what `value` reads from its status.
template <class Value>
void write_for_nodes(std::string& text, const MetricName& metric, const RunStatus& status,
                     const std::vector<std::string>& labels, Value value) {
  write_head(text, metric);
  for (std::size_t node = 0; node < status.nodes.size(); ++node) {
    write_series(text, metric.name, labels[node], value(status.nodes[node]));
  }
}

std::string labeled(std::string labels, std::string_view name, std::string_view value) {
  add_label(labels, name, value);
  return labels;
}

bool is_up(NodeStatus::State state) {
  return state == NodeStatus::State::starting || state == NodeStatus::State::ready ||
         state == NodeStatus::State::running || state == NodeStatus::State::finished;
}

}  // namespace

RunMetrics::RunMetrics(const SupervisionGraph& graph)
    : graph_(graph), processes_(graph.processes.size()), calls_(graph), nodes_(graph) {
  for (const SupervisionGraph::Node& node : graph.nodes) {
    labels_.push_back(labeled(labeled({}, "group", graph.groups[node.group].name), "node", node.name));
  }
}

void RunMetrics::on_measured(std::size_t process, const Measurement& part) {
  Process& to = processes_[process];
  if (part.use.has_value()) to.use = part.use;
  if (part.metrics.has_value()) {
    nodes_.set(process, *part.metrics);
    to.shared_memory = part.metrics->shared_memory;
  }
  if (!part.calls.has_value()) return;
  calls_.set(process, *part.calls);
  to.left_out = part.left_out;
}

std::string RunMetrics::text(const Picture& picture) const {
  std::string text;
  write_run(text, picture);
  write_nodes(text, picture.status);
  write_progress(text, picture.status);
  write_processes(text, picture);
  calls_.write(text);
  const std::uint64_t dropped = nodes_.write(text);
  write_alone(text, {"lp_dropped_series", Kind::gauge, "series of nodes that are too many for their name or kind"}, {},
              dropped);
  return text;
}

void RunMetrics::write_run(std::string& text, const Picture& picture) const {
  const RunStatus& status = picture.status;
  write_alone(text, {"lp_run_info", Kind::gauge, "the run and its program"},
              labeled(labeled({}, "run", status.run), "program", picture.program), std::uint64_t{1});
  write_alone(text, {"lp_run_phase", Kind::gauge, "the present phase of the run"},
              labeled({}, "phase", enum_name(status.phase)), std::uint64_t{1});
  write_alone(text, {"lp_run_stalled", Kind::gauge, "1 while nothing moves in the run"}, {},
              std::uint64_t{status.stalled.empty() ? 0U : 1U});
  write_alone(text, {"lp_checkpoint_step", Kind::gauge, "step of the last complete checkpoint; 0 before the first"}, {},
              status.cut);
  if (picture.cut_time > 0) {
    write_alone(text, {"lp_checkpoint_timestamp_seconds", Kind::gauge, "time of the last complete checkpoint"}, {},
                picture.cut_time);
  }
}

void RunMetrics::write_nodes(std::string& text, const RunStatus& status) const {
  constexpr MetricName kState{"lp_node_state", Kind::gauge, "the present state of the node"};
  write_head(text, kState);
  for (std::size_t node = 0; node < status.nodes.size(); ++node) {
    write_series(text, kState.name, labeled(labels_[node], "state", enum_name(status.nodes[node].state)),
                 std::uint64_t{1});
  }
  write_for_nodes(text,
                  {"lp_node_restarts_total", Kind::counter,
                   "restarts of the node since its launcher began, also on request and together with another node"},
                  status, labels_, [](const NodeStatus& node) { return std::uint64_t{restarts_of(node)}; });
  write_for_nodes(text, {"lp_node_incarnation", Kind::gauge, "number of the node's present incarnation"}, status,
                  labels_, [](const NodeStatus& node) { return std::uint64_t{node.incarnation}; });
  write_for_nodes(text, {"lp_node_turn_seconds", Kind::gauge, "how long a handler has had the turn, if it is long"},
                  status, labels_, [](const NodeStatus& node) { return node.work_seconds; });
}

void RunMetrics::write_progress(std::string& text, const RunStatus& status) const {
  write_for_nodes(text, {"lp_progress_step", Kind::gauge, "step that the node has reported"}, status, labels_,
                  [](const NodeStatus& node) { return node.step; });
  write_for_nodes(text, {"lp_progress_last_step", Kind::gauge, "step at which the node will be done; 0: unknown"},
                  status, labels_, [](const NodeStatus& node) { return node.total; });
  constexpr MetricName kValue{"lp_progress_value", Kind::gauge, "value that the node has reported with its progress"};
  write_head(text, kValue);
  for (std::size_t node = 0; node < status.nodes.size(); ++node) {
    for (const auto& [name, value] : status.nodes[node].values) {
      write_series(text, kValue.name, labeled(labels_[node], "name", name), value);
    }
  }
}

// A process that is down uses nothing. A node that is a thread has no resources of its own: they are the launcher's.
void RunMetrics::write_processes(std::string& text, const Picture& picture) const {
  struct Use {
    std::string labels{};
    ProcessUse use{};
    std::uint64_t shared_memory = 0;
  };
  std::vector<Use> uses = {{labeled({}, "process", "launcher"), picture.launcher, picture.launcher_shared}};
  std::uint64_t left_out = 0;
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    left_out += processes_[i].left_out;
    const NodeStatus& first = picture.status.nodes[graph_.processes[i].nodes.front()];
    const std::optional<ProcessUse>& use = processes_[i].use;
    if (!use.has_value() || !is_up(first.state) || use->memory == 0) continue;
    std::string labels = labeled({}, "process", graph_.processes[i].name);
    if (!first.host.empty()) labels = labeled(std::move(labels), "host", first.host);
    uses.push_back({std::move(labels), *use, processes_[i].shared_memory});
  }
  constexpr MetricName kCpu{"lp_process_cpu_seconds_total", Kind::counter, "processor time of the process"};
  constexpr MetricName kMemory{"lp_process_memory_bytes", Kind::gauge, "memory that only this process has"};
  write_head(text, kCpu);
  for (const Use& one : uses) write_series(text, kCpu.name, one.labels, one.use.cpu);
  write_head(text, kMemory);
  for (const Use& one : uses) write_series(text, kMemory.name, one.labels, one.use.memory);
  constexpr MetricName kShared{"lp_process_shared_memory_bytes", Kind::gauge,
                               "shared memory in which arrays of the process lie"};
  write_head(text, kShared);
  for (const Use& one : uses) write_series(text, kShared.name, one.labels, one.shared_memory);
  std::erase_if(uses, [](const Use& one) { return one.use.gpus.uuids.empty(); });
  for (Use& one : uses) one.labels = labeled(std::move(one.labels), "gpus", join(one.use.gpus.uuids, ","));
  constexpr MetricName kGpuMemory{"lp_process_gpu_memory_bytes", Kind::gauge,
                                  "memory of the GPUs of the process that is in use, by all processes"};
  write_head(text, kGpuMemory);
  for (const Use& one : uses) write_series(text, kGpuMemory.name, one.labels, one.use.gpus.memory);
  constexpr MetricName kGpuBusy{"lp_process_gpu_busy_ratio", Kind::gauge,
                                "share of the time in which the GPUs of the process compute, for all processes"};
  write_head(text, kGpuBusy);
  for (const Use& one : uses) {
    if (one.use.gpus.busy.has_value()) write_series(text, kGpuBusy.name, one.labels, *one.use.gpus.busy);
  }
  write_alone(text, {"lp_left_out_methods", Kind::gauge, "methods that are left out, as their process has too many"},
              {}, left_out);
}

}  // namespace lp::launch
