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
  if (const std::string& unsaved = evidence.samples.back().status.unsaved; !unsaved.empty()) {
    all.push_back({.kind = Diagnosis::Kind::unsaved, .text = unsaved});
  }
  std::stable_sort(all.begin(), all.end(), [](const Diagnosis& a, const Diagnosis& b) {
    return std::tuple(a.kind, b.waiting) < std::tuple(b.kind, a.waiting);
  });
  return all;
}

}  // namespace lp::tool
