#pragma once
// The metrics of the calls of a run. Numbers of calls are by caller, callee and method. Times and sizes are by the
// groups of caller and callee, because a histogram of each edge of a large run would be more than a scrape may cost.
//
// A run's loop thread owns and uses it.

#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "launchers/control/measurement.h"
#include "launchers/supervisor/supervision_graph.h"

namespace lp::launch {

class CallMetrics {
 public:
  explicit CallMetrics(const SupervisionGraph& graph);

  // Takes the calls of a process since its start. Those with the same caller, callee and method are added up.
  void set(std::size_t process, std::span<const MeasureRecord::Calls> calls);
  void write(std::string& text) const;

 private:
  static constexpr std::size_t kCounters = 3;
  using ByLabels = std::map<std::string, MeasureRecord::Calls>;
  struct Process {
    ByLabels last{};
    std::array<std::string, kCounters> counters{};  // the series, as text
  };

  std::string group_labels(const MeasureRecord::Calls& calls) const;

  std::map<std::string, std::string> group_of_;  // by node
  std::vector<Process> processes_;
  ByLabels groups_;  // totals of all incarnations, which never shrink
};

}  // namespace lp::launch
