#pragma once
// The metrics that nodes define, of all processes of a run. A run's loop thread owns and uses it.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "launchers/supervisor/supervision_graph.h"
#include "lp/rpc/observation/metric_sample.h"

namespace lp::launch {

class NodeMetrics {
 public:
  explicit NodeMetrics(const SupervisionGraph& graph);

  // Replaces the metrics of a process.
  void set(std::size_t process, const MetricSamples& samples);
  // Adds the text of all, and returns the number of series that are not in it: nodes have dropped them, or give another
  // kind to a name than other nodes do.
  std::uint64_t write(std::string& text) const;

 private:
  // The series of one name in one process.
  struct Part {
    MetricSample::Kind kind = MetricSample::Kind::gauge;
    std::string help{};
    std::string text{};
    std::uint64_t series = 0;
  };
  struct Process {
    std::map<std::string, Part> parts{};  // by name
    std::uint64_t dropped = 0;
  };

  std::map<std::string, std::string> group_of_;  // by node
  std::vector<Process> processes_;
};

}  // namespace lp::launch
