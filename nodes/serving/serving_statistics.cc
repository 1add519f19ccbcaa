#include "nodes/serving/serving_statistics.h"

#include <algorithm>
#include <bit>

namespace lp {

double ServingStatistics::mean_batch() const {
  std::uint64_t requests = 0;
  for (std::size_t size = 0; size < batch_sizes.size(); ++size) requests += size * batch_sizes[size];
  return batches == 0 ? 0 : static_cast<double>(requests) / static_cast<double>(batches);
}

void ServingCounter::batch(std::size_t size) {
  ++all_.batches;
  ++all_.batch_sizes[size];
}

void ServingCounter::answered(Duration time) {
  ++all_.answered;
  const auto bucket = static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(time.count())));
  ++all_.latency.counts[std::min(bucket, all_.latency.counts.size() - 1)];
}

}  // namespace lp
