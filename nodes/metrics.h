#pragma once
// Values that the nodes of a program log about their work, as series by name: a loss, an accuracy, a reward. A user
// plots them afterwards, and nodes may decide by them meanwhile. (A node shows a value only to people with
// Context::report.)
//
//   metrics.send<&lp::Metrics::log>(step, lp::MetricValues{{"loss", loss}, {"accuracy", accuracy}});
//
// A node: its handlers run in its turn. A restarted one begins without values.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/scheduler.h"
#include "lp/rpc/core/method.h"

namespace lp {

using MetricValues = std::vector<std::pair<std::string, double>>;

struct MetricPoint {
  std::uint64_t step = 0;
  double seconds = 0;  // since this node began
  double value = 0;
};
using MetricSeries = std::map<std::string, std::vector<MetricPoint>>;

struct MetricsOptions {
  std::size_t points = 1000;  // the most points that a series keeps, at least 2
  std::size_t series = 1000;
};

class Metrics {
 public:
  // Error::failed when an option does not fit.
  explicit Metrics(MetricsOptions options = {});

  // Logs the values of this step. A full series drops every other point, and from then on keeps points at the same
  // wider spacing, so that it always reaches back to its beginning. Error::overloaded, with nothing kept, when there
  // would be more series than MetricsOptions::series.
  void log(std::uint64_t step, const MetricValues& values);

  // The last point of each series, also when the series does not keep it.
  std::map<std::string, MetricPoint> latest() const;
  MetricSeries all() const;

  using Remote = Methods<&Metrics::log, idempotent<&Metrics::latest>, idempotent<&Metrics::all>>;

 private:
  struct Series {
    std::vector<MetricPoint> points{};
    std::uint64_t stride = 1;  // one point is kept for each `stride` points
    std::uint64_t count = 0;   // all points that were logged
    MetricPoint last{};
  };
  void add(Series& series, const MetricPoint& point) const;

  const MetricsOptions options_;
  const Time began_ = now();
  std::map<std::string, Series> series_{};
};

// A table in CSV (RFC 4180) with a header line: series,step,seconds,value.
std::string to_csv(const MetricSeries& series);

}  // namespace lp
