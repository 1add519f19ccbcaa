#include "tools/lp/run_charts.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

namespace lp::tool {
namespace {

Curve line_of(std::string name, const std::vector<SavedPoint>& points) {
  Curve curve{.name = std::move(name)};
  for (const SavedPoint& point : points) {
    curve.points.push_back({static_cast<double>(point.step), point.value});
  }
  return curve;
}

Chart chart_of(std::span<const RunCurves> runs, const std::string& metric) {
  Chart chart{.title = metric};
  for (const RunCurves& run : runs) {
    const auto has = [&](const auto& node) { return node.second.contains(metric); };
    const bool several = std::count_if(run.nodes.begin(), run.nodes.end(), has) > 1;
    for (const auto& [node, curves] : run.nodes) {
      const auto at = curves.find(metric);
      if (at == curves.end()) continue;
      const std::string name = runs.size() == 1 ? node : several ? run.run + " " + node : run.run;
      chart.curves.push_back(line_of(name, at->second));
    }
  }
  return chart;
}

}  // namespace

std::vector<std::string> metrics_of(std::span<const RunCurves> runs) {
  std::set<std::string> names;
  for (const RunCurves& run : runs) {
    for (const auto& [node, curves] : run.nodes) {
      for (const auto& [name, points] : curves) names.insert(name);
    }
  }
  return {names.begin(), names.end()};
}

std::vector<Chart> charts_of(std::span<const RunCurves> runs, std::span<const std::string> metrics) {
  std::vector<Chart> charts;
  for (const std::string& metric : metrics) charts.push_back(chart_of(runs, metric));
  return charts;
}

}  // namespace lp::tool
