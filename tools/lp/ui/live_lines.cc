#include "tools/lp/ui/live_lines.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "lp/base/json.h"
#include "lp/base/utf8.h"
#include "tools/lp/run_text.h"
#include "tools/lp/views/group_edges.h"

namespace lp::tool {
namespace {

constexpr std::size_t kLongestText = 400;  // bytes of a failure or an event

std::string_view shortened_text(const std::string& text) {
  if (text.size() <= kLongestText) return text;
  return std::string_view(text).substr(0, valid_utf8_prefix(std::string_view(text).substr(0, kLongestText)));
}

// A number with four digits: more would only make lines longer.
double rounded(double number) {
  if (number == 0 || !std::isfinite(number)) return number;
  const double unit = std::pow(10, 3 - std::floor(std::log10(std::abs(number))));
  return std::round(number * unit) / unit;
}

// A member that is left out where it has its usual value.
template <class T>
void member_unless(JsonWriter& json, std::string_view name, const T& value, const T& usual = {}) {
  if (value != usual) json.member(name, value);
}

void write_node(JsonWriter& json, const NodeStatus& node) {
  json.begin_object();
  json.member("state", node.state);
  member_unless(json, "incarnation", node.incarnation);
  member_unless(json, "restarts", restarts_of(node));
  member_unless(json, "host", node.host);
  member_unless(json, "pid", node.pid);
  member_unless(json, "step", node.step);
  member_unless(json, "total", node.total);
  if (!node.values.empty()) json.member("values", node.values);
  if (!node.text.empty()) json.member("failure", shortened_text(node.text));
  if (!node.work.empty()) json.member("busy", shortened_text(node.work));
  json.end_object();
}

void write_call_rate(JsonWriter& json, const CallRate& rate) {
  for (const double number : {rate.calls, rate.errors, rate.bytes, static_cast<double>(rate.waiting),
                              to_seconds(rate.latency.quantile(0.5)), to_seconds(rate.latency.quantile(0.99))}) {
    json.number(rounded(number));
  }
}

void write_node_rate(JsonWriter& json, const NodeRate& node) {
  json.begin_object();
  if (node.measured) {
    json.member("cpu", rounded(node.cpu));
    json.member("memory", node.memory);
  }
  if (!node.gpus.empty()) {
    json.member("gpus", node.gpus.size());
    json.member("gpu_busy", node.gpu_busy);
    json.member("gpu_memory", node.gpu_memory);
  }
  member_unless(json, "in", rounded(node.in.calls));
  member_unless(json, "out", rounded(node.out.calls));
  member_unless(json, "errors", rounded(node.in.errors));
  member_unless(json, "queue", node.in.waiting);
  member_unless(json, "p50", rounded(to_seconds(node.in.latency.quantile(0.5))));
  member_unless(json, "p99", rounded(to_seconds(node.in.latency.quantile(0.99))));
  json.end_object();
}

// Rows of caller, callee, calls, errors, bytes, waiting, p50, p99; nodes by their positions in the plan.
void write_node_edges(JsonWriter& json, const Plan& plan, const Rates& rates, std::size_t most) {
  std::map<std::string_view, std::size_t> positions;
  for (std::size_t i = 0; i < plan.nodes.size(); ++i) positions.emplace(plan.nodes[i].name, i);
  std::vector<std::pair<std::pair<std::size_t, std::size_t>, const CallRate*>> shown;
  for (const auto& [edge, rate] : rates.edges) {
    const auto from = positions.find(edge.first), to = positions.find(edge.second);
    if (from != positions.end() && to != positions.end()) shown.push_back({{from->second, to->second}, &rate});
  }
  json.member("left_out", shown.size() - std::min(shown.size(), most));
  if (shown.size() > most) {
    std::nth_element(shown.begin(), shown.begin() + static_cast<std::ptrdiff_t>(most), shown.end(),
                     [](const auto& a, const auto& b) { return a.second->calls > b.second->calls; });
    shown.resize(most);
  }
  json.key("edges");
  json.begin_array();
  for (const auto& [edge, rate] : shown) {
    json.begin_array();
    json.number(std::uint64_t{edge.first});
    json.number(std::uint64_t{edge.second});
    write_call_rate(json, *rate);
    json.end_array();
  }
  json.end_array();
}

// The same with groups, and the records and the bytes that nodes count themselves.
void write_group_edges(JsonWriter& json, const Plan& plan, const Rates& rates, const RunStatus& status) {
  GroupEdges edges = edges_of(plan);
  add_rates(edges, plan, rates);
  add_sent(edges, plan, status);
  json.key("group_edges");
  json.begin_array();
  for (const auto& [groups, edge] : edges) {
    json.begin_array();
    json.number(std::uint64_t{groups.first});
    json.number(std::uint64_t{groups.second});
    write_call_rate(json, edge.rate.value_or(CallRate()));
    json.number(edge.records);
    json.number(edge.bytes);
    json.end_array();
  }
  json.end_array();
}

}  // namespace

std::string run_line(const RunView& run) {
  JsonWriter json;
  json.begin_object();
  json.key("run");
  json.begin_object();
  json.member("state", state_of(run));
  json.member("life", run.life);
  json.member("phase", run.status.phase);
  json.member("outcome", outcome_of(run));
  json.member("ready", is_over(run) ? std::string() : ready_text(run.status));
  json.member("ends", ends_text(run));
  json.member("checkpoint", run.status.cut);
  json.member("troubles", troubles_of(run));
  json.member("seconds", run.result.has_value() ? run.result->seconds : 0);
  if (run.result.has_value() && !run.result->cause.what.empty()) json.member("cause", run.result->cause.text());
  json.key("nodes");
  json.begin_array();
  for (const NodeStatus& node : run.status.nodes) write_node(json, node);
  json.end_array();
  json.end_object();
  json.end_object();
  return std::move(json).text();
}

std::string rates_line(const Plan& plan, const Rates& rates, const RunStatus& status, std::size_t most) {
  JsonWriter json;
  json.begin_object();
  json.key("rates");
  json.begin_object();
  json.key("nodes");
  json.begin_array();
  for (const NodeRate& node : rates.nodes) write_node_rate(json, node);
  json.end_array();
  write_node_edges(json, plan, rates, most);
  write_group_edges(json, plan, rates, status);
  json.key("all");
  json.begin_array();
  write_call_rate(json, rates.all);
  json.end_array();
  json.member("launcher_cpu", rounded(rates.launcher_cpu));
  json.member("launcher_memory", rates.launcher_memory);
  json.end_object();
  json.end_object();
  return std::move(json).text();
}

std::string events_line(std::span<const RunEvent> events) {
  JsonWriter json;
  json.begin_object();
  json.key("events");
  json.begin_array();
  for (const RunEvent& event : events) {
    json.begin_object();
    json.member("time", event.time);
    json.member("kind", event.kind);
    json.member("node", event.node);
    json.member("incarnation", event.incarnation);
    json.member("text", shortened_text(event.text));
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return std::move(json).text();
}

std::string trouble_line(const std::string& trouble) {
  JsonWriter json;
  json.begin_object();
  json.member("trouble", trouble);
  json.end_object();
  return std::move(json).text();
}

}  // namespace lp::tool
