// Slow replicas and services with too many calls, from how the nodes share their time.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tools/lp/rates.h"
#include "tools/lp/why/diagnosis.h"
#include "tools/lp/why/straggler.h"

namespace lp::tool {
namespace {

constexpr double kSaturated = 0.9;        // the share of the time in which the service works
constexpr std::size_t kLeastSamples = 5;  // for shares of the time; counts of calls need fewer
constexpr double kLeastSeconds = 0.25;    // for counts of calls

// The state of a node at a look: the last of these that one of its activities has.
enum class Doing : std::uint8_t { nothing, is_kept, waits, works };

Doing doing_of(const WaitGraph& graph, const Activity& one) {
  if (one.work.empty()) return one.end == Activity::End::down ? Doing::nothing : Doing::waits;
  if (one.open) return Doing::nothing;
  if (one.next.has_value()) {
    // Behind a turn: its reply may be on its way, too.
    const bool kept = one.why != Activity::Why::queued && graph.activities[*one.next].node != one.node;
    return kept ? Doing::is_kept : Doing::waits;
  }
  if (one.end == Activity::End::sleeps) return Doing::nothing;
  return one.in_lp ? Doing::waits : Doing::works;
}

void add_look(const Evidence& evidence, const WaitsRecord& sample, std::map<std::string, Share>& all) {
  const double each = 1 / static_cast<double>(evidence.samples.size());
  const WaitGraph graph = wait_graph(evidence.plan, sample);
  std::map<std::string, Doing> doing;
  for (const PlanNode& node : evidence.plan.nodes) doing[node.name] = Doing::nothing;
  for (const Activity& one : graph.activities) doing[one.node] = std::max(doing[one.node], doing_of(graph, one));
  for (const auto& [node, what] : doing) {
    Share& share = all[node];
    ++share.looks;
    if (what == Doing::nothing) share.away += each;
    if (what == Doing::is_kept) share.kept += each;
    if (what == Doing::works) share.works += each;
  }
  for (const auto& [node, calls] : graph.queues) all[node].queue += each * static_cast<double>(calls);
}

// The calls of each node by their method and callee; replicas of one group that call one another do the same.
void add_calls(const Evidence& evidence, double seconds, std::map<std::string, Share>& all) {
  std::map<std::string, const PlanNode*> nodes;
  for (const PlanNode& node : evidence.plan.nodes) nodes.emplace(node.name, &node);
  const auto mates = [&](const std::string& a, const std::string& b) {
    return nodes.contains(a) && nodes.contains(b) && nodes.at(a)->group == nodes.at(b)->group;
  };
  using Method = std::tuple<std::string, std::string, std::string>;
  std::map<Method, const MeasureRecord::Calls*> before;
  for (const MeasureRecord::Calls& one : evidence.before.calls) before[{one.caller, one.callee, one.method}] = &one;
  for (const MeasureRecord::Calls& one : evidence.after.calls) {
    const auto at = before.find({one.caller, one.callee, one.method});
    const MeasureRecord::Calls grown =
        launch::calls_since(at == before.end() ? MeasureRecord::Calls() : *at->second, one);
    const std::string callee = mates(one.caller, one.callee) ? std::string() : one.callee;
    all[one.caller].calls[callee + "." + one.method] += static_cast<double>(grown.calls);
  }
  for (auto& [node, share] : all) share.seconds = seconds;
}

std::map<std::string, Share> shares(const Evidence& evidence) {
  std::map<std::string, Share> all;
  for (const WaitsRecord& sample : evidence.samples) add_look(evidence, sample, all);
  const double seconds = std::max(evidence.after.time - evidence.before.time, 1e-6);
  if (seconds >= kLeastSeconds) add_calls(evidence, seconds, all);
  if (evidence.samples.size() < kLeastSamples) return all;
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

void keep_lasting_stragglers(std::vector<Diagnosis>& found, const Evidence& evidence,
                             const std::function<Evidence()>& observe) {
  const auto is_straggler = [](const Diagnosis& one) { return one.kind == Diagnosis::Kind::straggler; };
  double seconds = evidence.after.time - evidence.before.time;
  while (seconds < kLastingSeconds && std::any_of(found.begin(), found.end(), is_straggler)) {
    const Evidence again = observe();
    std::set<std::string> slow;
    for (const Diagnosis& one : diagnose_load(again)) {
      if (is_straggler(one)) slow.insert(one.node);
    }
    std::erase_if(found, [&](const Diagnosis& one) { return is_straggler(one) && !slow.contains(one.node); });
    seconds += std::max(again.after.time - again.before.time, kLeastSeconds);
  }
}

std::vector<Diagnosis> diagnose_load(const Evidence& evidence) {
  std::vector<Diagnosis> all;
  const std::map<std::string, Share> nodes = shares(evidence);
  for (const PlanGroup& group : evidence.plan.groups) {
    std::vector<std::string> members;
    for (const PlanNode& node : nodes_of(evidence.plan, group)) members.push_back(node.name);
    if (const auto slow = straggler_of(members, nodes); slow.has_value() && !slow->waits_more) {
      all.push_back({.kind = Diagnosis::Kind::straggler, .node = slow->node, .text = slow->text()});
    }
  }
  if (evidence.samples.size() < kLeastSamples) return all;
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
