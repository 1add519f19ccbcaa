// The chains of a wait graph, and the texts of its activities.
#include <cmath>
#include <set>

#include "launchers/observation/wait_graph.h"
#include "lp/base/scheduler.h"
#include "lp/base/text.h"

namespace lp::launch {

std::string lasts(double seconds) { return seconds > 0 ? ", for " + age_text(seconds) : std::string(); }

std::string age_text(double seconds) {
  const double step = seconds < 1 ? 1e-3 : seconds < 10 ? 0.1 : 1;
  return duration_text(from_seconds(std::round(seconds / step) * step));
}

std::string name_of(const Activity& activity) {
  return activity.work.empty() ? activity.node : activity.node + "." + activity.work;
}

std::vector<std::size_t> WaitGraph::chain_of(std::size_t activity) const {
  std::vector<std::size_t> chain{activity};
  std::set<std::size_t> seen{activity};
  for (auto next = activities[activity].next; next.has_value(); next = activities[*next].next) {
    chain.push_back(*next);
    if (!seen.insert(*next).second) break;
  }
  return chain;
}

}  // namespace lp::launch
