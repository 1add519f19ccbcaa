#pragma once
// The metrics of the calls of a run. Numbers, times and sizes of calls are by caller, callee and method; times and
// sizes also by the groups of caller and callee. Only so many edges have histograms of their own as a scrape may cost.
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
  static constexpr std::size_t kMostEdges = 2000;  // each with a method, that have histograms of their own

  explicit CallMetrics(const SupervisionGraph& graph);

  // Takes the calls of a process since its start. Those with the same caller, callee and method are added up.
  void set(std::size_t process, std::span<const MeasureRecord::Calls> calls);
  void write(std::string& text) const;

 private:
  static constexpr std::size_t kCounters = 3;
  static constexpr std::size_t kHistograms = 3;
  using ByLabels = std::map<std::string, MeasureRecord::Calls>;
  struct Process {
    ByLabels last{};
    std::array<std::string, kCounters> counters{};  // the series, as text
    std::array<std::string, kHistograms> histograms{};
    std::size_t edges = 0;  // that have histograms
  };

  std::string group_labels(const MeasureRecord::Calls& calls) const;
  std::size_t bytes() const;  // in the series of processes

  std::map<std::string, std::string> group_of_;  // by node
  std::vector<Process> processes_;
  std::size_t edges_ = 0;  // the sum over all processes
  ByLabels groups_;        // totals of all incarnations, which never shrink
};

}  // namespace lp::launch
