#include "programs/experiments/metric_chart.h"

namespace lp {

Curve curve_of(const std::string& name, const std::vector<MetricPoint>& points) {
  Curve curve{.name = name};
  for (const MetricPoint& point : points) curve.points.push_back({static_cast<double>(point.step), point.value});
  return curve;
}

void write_chart(const std::filesystem::path& file, const std::string& title, const MetricSeries& series,
                 std::span<const SeriesLabel> labels) {
  Chart chart{.title = title};
  for (const auto& [name, label] : labels) {
    if (const auto at = series.find(name); at != series.end()) chart.curves.push_back(curve_of(label, at->second));
  }
  write_charts(file, {&chart, 1});
}

}  // namespace lp
