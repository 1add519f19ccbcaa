#pragma once
// Values that the nodes of a program say of their work, as series by name: a loss, an accuracy, a reward. For who draws
// them afterwards, and who decides by them meanwhile. (What a node only shows to people is its Context::report.)
//
//   metrics.send<&lp::Metrics::log>(step, lp::MetricValues{{"loss", loss}, {"accuracy", accuracy}});
//
// A node: its handlers run in its turn. One that is restarted begins anew.

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
  std::size_t points = 1000;  // of a series, at least 2
  std::size_t series = 1000;
};

class Metrics {
 public:
  // Error::failed when an option does not fit.
  explicit Metrics(MetricsOptions options = {});

  // The values of this step. A series that is full keeps every other point, and of what comes from then on as many, so
  // that it always goes back to its beginning. Error::overloaded, with nothing kept, for more series than there may be.
  void log(std::uint64_t step, const MetricValues& values);

  // The last point of each series, whether it is among those that are kept or not.
  std::map<std::string, MetricPoint> latest() const;
  MetricSeries all() const;

  using Remote = Methods<&Metrics::log, idempotent<&Metrics::latest>, idempotent<&Metrics::all>>;

 private:
  struct Series {
    std::vector<MetricPoint> points{};
    std::uint64_t stride = 1;  // of so many points one is kept
    std::uint64_t count = 0;   // of all points that came
    MetricPoint last{};
  };
  void add(Series& series, const MetricPoint& point) const;

  const MetricsOptions options_;
  const Time began_ = now();
  std::map<std::string, Series> series_{};
};

// A table: series,step,seconds,value. As RFC 4180 has it, with a line of names.
std::string to_csv(const MetricSeries& series);

}  // namespace lp
