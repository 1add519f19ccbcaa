#include "tools/lp/rates.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <tuple>

namespace lp::tool {
namespace {

using Key = std::tuple<std::string, std::string, std::string>;

Key key_of(const MeasureRecord::Calls& calls) { return {calls.caller, calls.callee, calls.method}; }

// The increase of a counter. A counter that is smaller now has begun again at zero.
std::uint64_t grown(std::uint64_t before, std::uint64_t after) { return after >= before ? after - before : after; }

CallRate rate_of(const MeasureRecord::Calls& before, const MeasureRecord::Calls& after, double seconds) {
  const bool again = after.calls < before.calls;
  const auto rate = [&](std::uint64_t from, std::uint64_t to) {
    return static_cast<double>(again ? to : grown(from, to)) / seconds;
  };
  CallRate result{.calls = rate(before.calls, after.calls), .errors = rate(before.errors, after.errors)};
  result.bytes = rate(before.bytes_sent + before.bytes_received, after.bytes_sent + after.bytes_received);
  result.waiting = after.calls - std::min(after.ended, after.calls);
  for (std::size_t i = 0; i < std::min(after.latency.size(), LatencyHistogram::kSize); ++i) {
    const std::uint64_t from = i < before.latency.size() && !again ? before.latency[i] : 0;
    result.latency.counts[i] = grown(from, after.latency[i]);
  }
  return result;
}

// The number with at most three digits.
std::string digits(double number, const char* unit) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), number >= 9.95 || number == 0 ? "%.0f%s" : "%.1f%s", number, unit);
  return text.data();
}

}  // namespace

void CallRate::add(const CallRate& other) {
  calls += other.calls;
  errors += other.errors;
  bytes += other.bytes;
  waiting += other.waiting;
  for (std::size_t i = 0; i < LatencyHistogram::kSize; ++i) latency.counts[i] += other.latency.counts[i];
}

Rates rates_of(const MeasureRecord& before, const MeasureRecord& after) {
  const double seconds = std::max(after.time - before.time, 1e-6);
  Rates rates;
  std::map<std::string, std::size_t> places;
  for (const NodeStatus& node : after.status.nodes) {
    places.emplace(node.name, rates.nodes.size());
    rates.nodes.push_back({.name = node.name, .state = node.state, .incarnation = node.incarnation});
  }
  std::map<int, double> cpu_before;
  for (const MeasureRecord::Process& process : before.processes) cpu_before.emplace(process.pid, process.cpu);
  for (const MeasureRecord::Process& process : after.processes) {
    for (const std::string& name : process.nodes) {
      const auto at = places.find(name);
      if (at == places.end()) continue;
      NodeRate& node = rates.nodes[at->second];
      node.host = process.host;
      // the resources of a shared process are counted once
      if (name != process.nodes.front() || process.pid == 0) continue;
      const auto earlier = cpu_before.find(process.pid);
      node.measured = process.memory > 0;
      node.memory = process.memory;
      node.cpu = std::max(process.cpu - (earlier == cpu_before.end() ? 0 : earlier->second), 0.0) / seconds;
    }
  }
  std::map<Key, const MeasureRecord::Calls*> calls_before;
  for (const MeasureRecord::Calls& calls : before.calls) calls_before.emplace(key_of(calls), &calls);
  for (const MeasureRecord::Calls& calls : after.calls) {
    const auto earlier = calls_before.find(key_of(calls));
    const CallRate rate =
        rate_of(earlier == calls_before.end() ? MeasureRecord::Calls() : *earlier->second, calls, seconds);
    rates.edges[{calls.caller, calls.callee}].add(rate);
    rates.all.add(rate);
    if (const auto at = places.find(calls.callee); at != places.end()) rates.nodes[at->second].in.add(rate);
    if (const auto at = places.find(calls.caller); at != places.end()) rates.nodes[at->second].out.add(rate);
  }
  rates.launcher_cpu = std::max(after.launcher.cpu - before.launcher.cpu, 0.0) / seconds;
  rates.launcher_memory = after.launcher.memory;
  return rates;
}

void write_rate(JsonWriter& json, std::string_view name, const CallRate& rate) {
  json.key(name);
  json.begin_object();
  json.member("calls_per_second", rate.calls);
  json.member("errors_per_second", rate.errors);
  json.member("bytes_per_second", rate.bytes);
  json.member("waiting", rate.waiting);
  json.member("p50_seconds", to_seconds(rate.latency.quantile(0.5)));
  json.member("p99_seconds", to_seconds(rate.latency.quantile(0.99)));
  json.end_object();
}

void write_rates(JsonWriter& json, const Rates& rates) {
  json.key("nodes");
  json.begin_array();
  for (const NodeRate& node : rates.nodes) {
    json.begin_object();
    json.member("name", node.name);
    json.member("state", node.state);
    json.member("incarnation", node.incarnation);
    json.member("host", node.host);
    json.member("cpu", node.measured ? std::optional(node.cpu) : std::nullopt);
    json.member("memory", node.measured ? std::optional(node.memory) : std::nullopt);
    write_rate(json, "in", node.in);
    write_rate(json, "out", node.out);
    json.end_object();
  }
  json.end_array();
  json.key("edges");
  json.begin_array();
  for (const auto& [edge, rate] : rates.edges) {
    json.begin_object();
    json.member("caller", edge.first);
    json.member("callee", edge.second);
    write_rate(json, "rate", rate);
    json.end_object();
  }
  json.end_array();
  json.member("launcher_cpu", rates.launcher_cpu);
  json.member("launcher_memory", rates.launcher_memory);
}

std::string short_number(double number) {
  constexpr std::array kUnits = {"", "k", "M", "G", "T"};
  std::size_t unit = 0;
  for (; number >= 999.5 && unit + 1 < kUnits.size(); ++unit) number /= 1000;
  return digits(number, kUnits[unit]);
}

std::string short_time(Duration duration) {
  constexpr std::array kUnits = {"ns", "µs", "ms", "s"};
  if (duration <= Duration::zero()) return {};
  double number = static_cast<double>(duration.count());
  std::size_t unit = 0;
  for (; number >= 999.5 && unit + 1 < kUnits.size(); ++unit) number /= 1000;
  return digits(number, kUnits[unit]);
}

}  // namespace lp::tool
