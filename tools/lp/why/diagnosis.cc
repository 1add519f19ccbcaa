#include "tools/lp/why/diagnosis.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace lp::tool {

std::vector<Diagnosis> diagnose(const Evidence& evidence) {
  std::vector<Diagnosis> all = diagnose_waits(evidence, wait_graph(evidence.plan, evidence.samples.back()));
  std::vector<Diagnosis> loads = diagnose_load(evidence);
  // A service whose one handler goes on and on is not overloaded.
  std::erase_if(loads, [&](const Diagnosis& load) {
    return std::any_of(all.begin(), all.end(), [&](const Diagnosis& wait) { return wait.node == load.node; });
  });
  std::move(loads.begin(), loads.end(), std::back_inserter(all));
  std::vector<Diagnosis> starved = diagnose_starved(evidence);
  std::move(starved.begin(), starved.end(), std::back_inserter(all));
  if (const std::string& unsaved = evidence.samples.back().status.unsaved; !unsaved.empty()) {
    all.push_back({.kind = Diagnosis::Kind::unsaved, .text = unsaved});
  }
  std::stable_sort(all.begin(), all.end(), [](const Diagnosis& a, const Diagnosis& b) {
    return std::tuple(a.kind, b.waiting) < std::tuple(b.kind, a.waiting);
  });
  return all;
}

bool concerns(const Diagnosis& diagnosis, const Plan& plan, const std::set<std::string>& nodes) {
  const auto named = [&](const std::string& node) { return nodes.contains(node); };
  if (named(diagnosis.node)) return true;
  if (std::any_of(diagnosis.waiters.begin(), diagnosis.waiters.end(), named)) return true;
  const bool in_chain = std::any_of(diagnosis.chain.begin(), diagnosis.chain.end(), [&](const std::string& step) {
    return std::any_of(nodes.begin(), nodes.end(), [&](const std::string& node) {
      return step.starts_with(node + ".") || step.starts_with(node + " ");
    });
  });
  if (in_chain || diagnosis.kind != Diagnosis::Kind::saturated) return in_chain;
  return std::any_of(plan.nodes.begin(), plan.nodes.end(), [&](const PlanNode& node) {
    return named(node.name) && std::any_of(node.calls.begin(), node.calls.end(),
                                           [&](NodeId callee) { return plan.nodes[callee].name == diagnosis.node; });
  });
}

}  // namespace lp::tool
