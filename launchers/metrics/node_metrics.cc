#include "launchers/metrics/node_metrics.h"

#include <algorithm>

#include "launchers/metrics/metric_text.h"

namespace lp::launch {
namespace {

void write_sample(std::string& text, const MetricSample& sample, const std::string& labels) {
  if (sample.kind != MetricSample::Kind::histogram) return write_series(text, sample.name, labels, sample.value);
  HistogramText histogram(text, sample.name, labels);
  for (std::size_t i = 0; i < sample.bounds.size(); ++i) {
    histogram.bucket(metric_number(sample.bounds[i]), sample.counts[i]);
  }
  histogram.end(sample.counts.back(), sample.value);
}

}  // namespace

NodeMetrics::NodeMetrics(const SupervisionGraph& graph) : processes_(graph.processes.size()) {
  for (const SupervisionGraph::Node& node : graph.nodes) group_of_.emplace(node.name, graph.groups[node.group].name);
}

void NodeMetrics::set(std::size_t process, const MetricSamples& samples) {
  Process& to = processes_[process];
  to = {.dropped = samples.dropped};
  for (const MetricSample& sample : samples.samples) {
    const auto group = group_of_.find(sample.node);
    if (group == group_of_.end()) continue;
    std::string labels;
    add_label(labels, "group", group->second);
    add_label(labels, "node", sample.node);
    for (const auto& [name, value] : sample.labels) add_label(labels, name, value);
    Part& part = to.parts.try_emplace(sample.name, Part{.kind = sample.kind, .help = sample.help}).first->second;
    if (part.kind != sample.kind) {  // nodes of one process that do not agree
      ++to.dropped;
      continue;
    }
    write_sample(part.text, sample, labels);
    ++part.series;
  }
}

std::uint64_t NodeMetrics::write(std::string& text) const {
  std::uint64_t left_out = 0;
  std::map<std::string_view, std::vector<const Part*>> by_name;
  for (const Process& process : processes_) {
    left_out += process.dropped;
    for (const auto& [name, part] : process.parts) by_name[name].push_back(&part);
  }
  for (const auto& [name, parts] : by_name) {
    const Part& first = *parts.front();
    write_head(text, {.name = name, .kind = first.kind, .help = first.help});
    for (const Part* part : parts) {
      if (part->kind == first.kind) {
        text += part->text;
      } else {
        left_out += part->series;
      }
    }
  }
  return left_out;
}

}  // namespace lp::launch
