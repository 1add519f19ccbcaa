// Slow replicas and services with too many calls, from how the nodes share their time.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tools/lp/rates.h"
#include "tools/lp/why/diagnosis.h"
#include "tools/lp/why/straggler.h"

namespace lp::tool {
namespace {

constexpr double kSaturated = 0.9;  // the share of the time in which the service works
constexpr std::size_t kLeastSamples = 5;

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

}  // namespace

std::vector<Diagnosis> diagnose_load(const Evidence& evidence) {
  std::vector<Diagnosis> all;
  if (evidence.samples.size() < kLeastSamples) return all;
  const std::map<std::string, Share> nodes = shares(evidence);
  for (const PlanGroup& group : evidence.plan.groups) {
    std::vector<std::string> members;
    for (const PlanNode& node : nodes_of(evidence.plan, group)) members.push_back(node.name);
    if (const auto slow = straggler_of(members, nodes)) {
      all.push_back({.kind = Diagnosis::Kind::straggler, .node = slow->node, .text = slow->text()});
    }
  }
  for (const auto& [name, share] : nodes) {
    if (share.works < kSaturated || share.queue < 1) continue;
    all.push_back({.kind = Diagnosis::Kind::saturated,
                   .node = name,
                   .text = name + " is saturated: it works for " + short_number(share.works * 100) +
                           " % of the time, and " + short_number(share.queue) + " calls wait for it on average",
                   .waiting = static_cast<std::size_t>(std::lround(share.queue))});
  }
  return all;
}

}  // namespace lp::tool
