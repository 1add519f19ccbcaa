#include "launchers/metrics/call_metrics.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "launchers/metrics/metric_text.h"
#include "lp/rpc/core/counters.h"

namespace lp::launch {
namespace {

using Kind = MetricSample::Kind;
using Numbers = std::vector<std::uint64_t>;

constexpr std::array<MetricName, 3> kCounterNames = {{
    {"lp_calls_total", Kind::counter, "calls that began"},
    {"lp_calls_ended_total", Kind::counter, "calls that ended"},
    {"lp_call_errors_total", Kind::counter, "calls that ended with an error"},
}};
// Times of calls, sizes of requests and sizes of replies.
using HistogramNames = std::array<MetricName, 3>;
constexpr HistogramNames kOfGroups = {{
    {"lp_call_seconds", Kind::histogram, "time of a call as its caller sees it; one call in 8 is timed"},
    {"lp_call_request_bytes", Kind::histogram, "size of a call that left its process"},
    {"lp_call_reply_bytes", Kind::histogram, "size of a reply that came from another process"},
}};
constexpr HistogramNames kOfEdges = {{
    {"lp_edge_call_seconds", Kind::histogram, "lp_call_seconds of each edge"},
    {"lp_edge_request_bytes", Kind::histogram, "lp_call_request_bytes of each edge"},
    {"lp_edge_reply_bytes", Kind::histogram, "lp_call_reply_bytes of each edge"},
}};

// The times of calls are counted by powers of two in nanoseconds. Each second one from about 1 us to about 1 min is a
// bound.
constexpr std::size_t kFirstTime = 10;
constexpr std::size_t kLastTime = 36;

std::vector<std::string> time_bounds() {
  std::vector<std::string> bounds;
  for (std::size_t power = kFirstTime; power <= kLastTime; power += 2) {
    bounds.push_back(metric_number(static_cast<double>(std::uint64_t{1} << power) / 1e9));
  }
  return bounds;
}

std::vector<std::string> size_bounds() {
  std::vector<std::string> bounds;
  for (std::size_t bucket = 0; bucket + 1 < SizeHistogram::kSize; ++bucket) {
    bounds.push_back(std::to_string(SizeHistogram::bound(bucket)));
  }
  return bounds;
}

std::uint64_t sum_of(const Numbers& numbers, std::size_t begin, std::size_t end) {
  std::uint64_t sum = 0;
  for (std::size_t i = begin; i < std::min(end, numbers.size()); ++i) sum += numbers[i];
  return sum;
}

void write_times(std::string& text, std::string_view name, const std::string& labels,
                 const MeasureRecord::Calls& calls) {
  static const std::vector<std::string> kBounds = time_bounds();
  HistogramText histogram(text, name, labels);
  std::size_t done = 0;
  for (std::size_t i = 0; i < kBounds.size(); ++i) {
    const std::size_t end = kFirstTime + 2 * i + 1;
    histogram.bucket(kBounds[i], sum_of(calls.latency, done, end));
    done = end;
  }
  histogram.end(sum_of(calls.latency, done, calls.latency.size()), static_cast<double>(calls.latency_sum) / 1e9);
}

void write_sizes(std::string& text, std::string_view name, const std::string& labels, const Numbers& counts,
                 std::uint64_t bytes) {
  static const std::vector<std::string> kBounds = size_bounds();
  HistogramText histogram(text, name, labels);
  for (std::size_t i = 0; i < kBounds.size(); ++i) histogram.bucket(kBounds[i], sum_of(counts, i, i + 1));
  histogram.end(sum_of(counts, kBounds.size(), counts.size()), static_cast<double>(bytes));
}

void write_histograms(std::array<std::string, 3>& texts, const HistogramNames& names, const std::string& labels,
                      const MeasureRecord::Calls& calls) {
  write_times(texts[0], names[0].name, labels, calls);
  // Calls inside a process have no size.
  if (calls.bytes_sent > 0) write_sizes(texts[1], names[1].name, labels, calls.sent_sizes, calls.bytes_sent);
  if (calls.bytes_received > 0)
    write_sizes(texts[2], names[2].name, labels, calls.received_sizes, calls.bytes_received);
}

void add_numbers(Numbers& to, const Numbers& from) {
  to.resize(std::max(to.size(), from.size()));
  for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
}

void add_calls(MeasureRecord::Calls& to, const MeasureRecord::Calls& from) {
  to.calls += from.calls;
  to.ended += from.ended;
  to.errors += from.errors;
  to.bytes_sent += from.bytes_sent;
  to.bytes_received += from.bytes_received;
  to.latency_sum += from.latency_sum;
  add_numbers(to.latency, from.latency);
  add_numbers(to.sent_sizes, from.sent_sizes);
  add_numbers(to.received_sizes, from.received_sizes);
}

}  // namespace

CallMetrics::CallMetrics(const SupervisionGraph& graph) : processes_(graph.processes.size()) {
  for (const SupervisionGraph::Node& node : graph.nodes) group_of_.emplace(node.name, graph.groups[node.group].name);
}

std::string CallMetrics::group_labels(const MeasureRecord::Calls& calls) const {
  const auto group = [this](const std::string& node) {
    const auto at = group_of_.find(node);
    return at == group_of_.end() ? node : at->second;
  };
  std::string labels;
  add_label(labels, "caller_group", group(calls.caller));
  add_label(labels, "callee_group", group(calls.callee));
  add_label(labels, "method", calls.method);
  return labels;
}

void CallMetrics::set(std::size_t process, std::span<const MeasureRecord::Calls> calls) {
  ByLabels present;
  for (const MeasureRecord::Calls& one : calls) {
    std::string labels;
    add_label(labels, "caller", one.caller);
    add_label(labels, "callee", one.callee);
    add_label(labels, "method", one.method);
    const auto [at, is_new] = present.try_emplace(std::move(labels), one);
    if (!is_new) add_calls(at->second, one);
  }
  Process& to = processes_[process];
  edges_ -= to.edges;
  to.edges = std::min(present.size(), kMostEdges - edges_);
  edges_ += to.edges;
  to.counters = {};
  to.histograms = {};
  std::size_t edge = 0;
  for (const auto& [labels, one] : present) {
    add_calls(groups_[group_labels(one)], calls_since(to.last[labels], one));
    write_series(to.counters[0], kCounterNames[0].name, labels, one.calls);
    write_series(to.counters[1], kCounterNames[1].name, labels, one.ended);
    write_series(to.counters[2], kCounterNames[2].name, labels, one.errors);
    if (edge++ < to.edges) write_histograms(to.histograms, kOfEdges, labels, one);
  }
  to.last = std::move(present);
}

std::size_t CallMetrics::bytes() const {
  std::size_t bytes = 0;
  for (const Process& process : processes_) {
    for (const std::string& series : process.counters) bytes += series.size();
    for (const std::string& series : process.histograms) bytes += series.size();
  }
  return bytes;
}

void CallMetrics::write(std::string& text) const {
  constexpr std::size_t kOfRest = 64 << 10;
  text.reserve(text.size() + bytes() + kOfRest);
  for (std::size_t i = 0; i < kCounters; ++i) {
    write_head(text, kCounterNames[i]);
    for (const Process& process : processes_) text += process.counters[i];
  }
  std::array<std::string, kHistograms> groups;
  for (const auto& [labels, one] : groups_) write_histograms(groups, kOfGroups, labels, one);
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < kHistograms; ++i) {
    write_head(text, kOfGroups[i]);
    text += groups[i];
    write_head(text, kOfEdges[i]);
    for (const Process& process : processes_) text += process.histograms[i];
  }
  for (const Process& process : processes_) left_out += process.last.size() - process.edges;
  constexpr MetricName kLeftOut{"lp_left_out_edges", Kind::gauge, "edges without histograms of their own: too many"};
  write_head(text, kLeftOut);
  write_series(text, kLeftOut.name, {}, std::uint64_t{left_out});
}

}  // namespace lp::launch
