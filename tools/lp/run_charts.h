#pragma once
// The curves of runs as charts: one for each value that nodes have reported, with a line for each node of each run.
// Values and pure functions.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "launchers/record/saved_curves.h"
#include "lp/draw/chart.h"

namespace lp::tool {

struct RunCurves {
  std::string run{};                          // its name
  std::map<std::string, NodeCurves> nodes{};  // by node
};

// The names of all values, each once.
std::vector<std::string> metrics_of(std::span<const RunCurves> runs);
// A chart for each of these values. A line has the name of its run where there are several, and that of its node where
// several have the value.
std::vector<Chart> charts_of(std::span<const RunCurves> runs, std::span<const std::string> metrics);

}  // namespace lp::tool
