#pragma once
// The metrics that one node has defined. Owned by the node's incarnation; thread-safe.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "lp/rpc/observation/metric_sample.h"

namespace lp {

// One name with one set of labels.
struct MetricCell {
  std::atomic<double> value = 0;                            // a histogram's is the sum
  std::vector<double> bounds{};                             // only a histogram has these
  std::unique_ptr<std::atomic<std::uint64_t>[]> counts {};  // one more than bounds
};

class MetricRegistry {
 public:
  static constexpr std::size_t kNames = 100;   // names in a node
  static constexpr std::size_t kSeries = 100;  // sets of labels for a name
  static constexpr std::size_t kLabels = 8;    // labels in a set
  // bytes of a name or help, and of a label's value, which is cut off
  static constexpr std::size_t kLongestText = 128;

  using Kind = MetricSample::Kind;

  // Returns the series, which lives as long as the registry; null when there are too many. Throws Error for a name, a
  // label or bounds that are not allowed, and for a name that has another kind or other bounds.
  MetricCell* series(Kind kind, std::string_view name, std::string_view help, MetricLabels labels,
                     std::vector<double> bounds = {});
  // Adds the present values of the node's metrics.
  void sample(const std::string& node, MetricSamples& all) const;

 private:
  struct Metric {
    Kind kind = Kind::gauge;
    std::string help{};
    std::vector<double> bounds{};
    std::map<MetricLabels, std::unique_ptr<MetricCell>> series{};
  };

  Metric* metric(Kind kind, const std::string& name, std::string_view help, std::vector<double> bounds);

  mutable std::mutex mutex_;
  std::map<std::string, Metric, std::less<>> metrics_;
  std::uint64_t dropped_ = 0;
};

}  // namespace lp
