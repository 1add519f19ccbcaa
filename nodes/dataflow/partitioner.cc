#include "nodes/dataflow/partitioner.h"

#include <algorithm>
#include <utility>

#include "nodes/dataflow/key_codec.h"

namespace lp::dataflow {

Partitioner::Partitioner(std::vector<std::string> bounds)
    : partitions_(static_cast<std::uint32_t>(bounds.size() + 1)), bounds_(std::move(bounds)) {
  for (const std::string& bound : bounds_) prefixes_.push_back(prefix_of(bound));
}

// The number of bounds that are not above the key. The prefixes are compared first.
std::uint32_t Partitioner::by_range(std::string_view key) const {
  const auto [first, last] = std::equal_range(prefixes_.begin(), prefixes_.end(), prefix_of(key));
  auto at = first - prefixes_.begin();
  while (at < last - prefixes_.begin() && bounds_[static_cast<std::size_t>(at)] <= key) ++at;
  return static_cast<std::uint32_t>(at);
}

std::vector<std::string> bounds_of(const std::vector<std::string>& sorted_sample, std::uint32_t partitions) {
  std::vector<std::string> out;
  for (std::uint32_t i = 1; i < partitions; ++i) {
    if (sorted_sample.empty()) break;
    const std::string& bound = sorted_sample[sorted_sample.size() * i / partitions];
    if (out.empty() || out.back() < bound) out.push_back(bound);
  }
  return out;
}

}  // namespace lp::dataflow
