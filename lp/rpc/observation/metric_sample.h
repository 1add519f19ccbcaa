#pragma once
// The value of a metric that a node defines, at one moment. Values.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace lp {

using MetricLabels = std::vector<std::pair<std::string, std::string>>;  // name and value

struct MetricSample {
  enum class Kind : std::uint8_t { counter, gauge, histogram };

  std::string node{};
  std::string name{};
  std::string help{};
  Kind kind = Kind::gauge;
  MetricLabels labels{};
  double value = 0;  // a histogram's is the sum of the values that it has observed
  // Only a histogram has these: the upper bounds of its buckets, and the number of values in each. The last bucket has
  // no bound.
  std::vector<double> bounds{};
  std::vector<std::uint64_t> counts{};
};

// The metrics of one process and its nodes.
struct MetricSamples {
  std::vector<MetricSample> samples{};
  std::uint64_t dropped = 0;        // the number of series that were refused because there are too many
  std::uint64_t shared_memory = 0;  // bytes that the arrays of the process occupy in shared memory
};

}  // namespace lp
