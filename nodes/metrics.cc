#include "nodes/metrics.h"

#include <cstdio>

#include "lp/base/error.h"

namespace lp {

Metrics::Metrics(MetricsOptions options) : options_(options) {
  if (options_.points >= 2 && options_.series >= 1) return;
  throw Error(ErrorKind::failed, "metrics would have " + std::to_string(options_.series) + " series with " +
                                     std::to_string(options_.points) +
                                     " points each: give at least 1 series, with at least 2 points");
}

void Metrics::log(std::uint64_t step, const MetricValues& values) {
  std::size_t all = series_.size();
  for (const auto& [name, value] : values) all += series_.contains(name) ? 0 : 1;
  if (all > options_.series) {
    throw Error(ErrorKind::overloaded,
                "this would make " + std::to_string(all) + " series, but metrics can have " +
                    std::to_string(options_.series) +
                    ": the name of a series should say what the value is; the step should say when it was measured");
  }
  const double seconds = to_seconds(now() - began_);
  for (const auto& [name, value] : values) add(series_[name], {.step = step, .seconds = seconds, .value = value});
}

void Metrics::add(Series& series, const MetricPoint& point) const {
  series.last = point;
  if (series.count++ % series.stride != 0) return;
  if (series.points.size() == options_.points) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < series.points.size(); i += 2) series.points[kept++] = series.points[i];
    series.points.resize(kept);
    series.stride *= 2;
    if ((series.count - 1) % series.stride != 0) return;
  }
  series.points.push_back(point);
}

std::map<std::string, MetricPoint> Metrics::latest() const {
  std::map<std::string, MetricPoint> out;
  for (const auto& [name, series] : series_) out.emplace(name, series.last);
  return out;
}

MetricSeries Metrics::all() const {
  MetricSeries out;
  for (const auto& [name, series] : series_) out.emplace(name, series.points);
  return out;
}

std::string to_csv(const MetricSeries& series) {
  std::string out = "series,step,seconds,value\r\n";
  for (const auto& [name, points] : series) {
    std::string quoted = "\"";
    for (const char one : name) quoted += one == '"' ? std::string("\"\"") : std::string(1, one);
    for (const MetricPoint& point : points) {
      char rest[96];
      std::snprintf(rest, sizeof rest, "\",%llu,%.6f,%.9g\r\n", static_cast<unsigned long long>(point.step),
                    point.seconds, point.value);
      out += quoted + rest;
    }
  }
  return out;
}

}  // namespace lp
