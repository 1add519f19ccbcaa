// Slow replicas and services with too many calls, from how the nodes share their time.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/lp/rates.h"
#include "tools/lp/why/diagnosis.h"

namespace lp::tool {
namespace {

constexpr double kSaturated = 0.9;  // the share of the time in which the service works
constexpr double kSlow = 2;         // a straggler takes this many times as long as the others
constexpr std::size_t kLeastSamples = 5;

// How one node spends its time.
struct Share {
  double works = 0;  // the share of the samples in which it did not wait in lp
  double queue = 0;  // calls that its handlers have not begun, on average
  double units = 0;  // steps of its progress per second, else calls
  double steps = 0;
};

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), value < 10 ? "%.1f" : "%.0f", value);
  return text.data();
}

std::map<std::string, Share> shares(const Evidence& evidence) {
  std::map<std::string, Share> all;
  const double each = 1 / static_cast<double>(evidence.samples.size());
  for (const WaitsRecord& sample : evidence.samples) {
    std::map<std::string, bool> working;
    const WaitGraph graph = wait_graph(evidence.plan, sample);
    for (const Activity& one : graph.activities) {
      const bool waits = one.open || one.in_lp || one.next.has_value();
      if (!one.work.empty() && !waits) working[one.node] = true;
    }
    for (const auto& [node, works] : working) all[node].works += each;
    for (const auto& [node, calls] : graph.queues) all[node].queue += each * static_cast<double>(calls);
  }
  const double seconds = std::max(evidence.after.time - evidence.before.time, 1e-6);
  for (const NodeRate& node : rates_of(evidence.before, evidence.after).nodes) {
    all[node.name].units = node.in.calls + node.out.calls;
  }
  for (const NodeStatus& before : evidence.before.status.nodes) {
    for (const NodeStatus& after : evidence.after.status.nodes) {
      if (after.name != before.name || after.incarnation != before.incarnation || after.step < before.step) continue;
      all[after.name].steps = static_cast<double>(after.step - before.step) / seconds;
    }
  }
  return all;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

// The time that a unit of work takes a replica, compared with the others. With `works` alone when all go at one pace.
std::optional<Diagnosis> straggler(const std::vector<PlanNode>& group, std::map<std::string, Share>& all) {
  const bool steps =
      std::all_of(group.begin(), group.end(), [&](const PlanNode& one) { return all[one.name].steps > 0; });
  std::map<std::string, double> times;
  for (const PlanNode& one : group) {
    const Share& share = all[one.name];
    const double units = steps ? share.steps : share.units;
    if (units <= 0) return std::nullopt;  // it is not slow: it stands
    times[one.name] = std::max(share.works, 0.02) / units;
  }
  const auto slowest =
      std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<double> others;
  for (const auto& [name, time] : times) {
    if (name != slowest->first) others.push_back(time);
  }
  const double factor = slowest->second / median(others);
  const Share& share = all[slowest->first];
  if (factor < kSlow || share.works < 0.5) return std::nullopt;
  return Diagnosis{.kind = Diagnosis::Kind::straggler,
                   .node = slowest->first,
                   .text = slowest->first + " is a straggler: " + (steps ? "a step" : "the work for a call") +
                           " takes it " + number(factor) + " times as long as the other " +
                           std::to_string(others.size()) + " of its group; it works for " + number(share.works * 100) +
                           " % of the time"};
}

}  // namespace

std::vector<Diagnosis> diagnose_load(const Evidence& evidence) {
  std::vector<Diagnosis> all;
  if (evidence.samples.size() < kLeastSamples) return all;
  std::map<std::string, Share> nodes = shares(evidence);
  for (const PlanGroup& group : evidence.plan.groups) {
    const auto members = nodes_of(evidence.plan, group);
    if (members.size() < 3) continue;  // nobody knows which of two is right
    if (auto slow = straggler({members.begin(), members.end()}, nodes)) all.push_back(std::move(*slow));
  }
  for (const auto& [name, share] : nodes) {
    if (share.works < kSaturated || share.queue < 1) continue;
    all.push_back({.kind = Diagnosis::Kind::saturated,
                   .node = name,
                   .text = name + " is saturated: it works for " + number(share.works * 100) + " % of the time, and " +
                           number(share.queue) + " calls wait for it on average",
                   .waiting = static_cast<std::size_t>(std::lround(share.queue))});
  }
  return all;
}

}  // namespace lp::tool
