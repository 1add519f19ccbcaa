#pragma once
// Which partition of a shuffle a key belongs to: by its hash, or by ranges whose bounds come from a sample of the keys,
// so that the partitions, one after the other, are sorted. A value; any thread may use it.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nodes/dataflow/key_hash.h"

namespace lp {

enum class Partitioning : std::uint8_t { hash, range };

namespace dataflow {

class Partitioner {
 public:
  // By hash.
  explicit Partitioner(std::uint32_t partitions) : partitions_(partitions) {}
  // By range: partition i has the keys from bounds[i - 1] up to, but without, bounds[i].
  explicit Partitioner(std::vector<std::string> bounds);

  std::uint32_t partitions() const { return partitions_; }
  std::uint32_t operator()(std::string_view key) const {
    if (partitions_ == 1) return 0;
    return prefixes_.empty() ? by_hash(key_hash(key)) : by_range(key);
  }

 private:
  std::uint32_t by_hash(std::uint64_t hash) const {  // its upper bits, scaled
    return static_cast<std::uint32_t>(((hash >> 32) * partitions_) >> 32);
  }
  std::uint32_t by_range(std::string_view key) const;

  std::uint32_t partitions_;
  std::vector<std::string> bounds_{};
  std::vector<std::uint64_t> prefixes_{};
};

// Bounds for so many partitions of about the same size, by a sorted sample; fewer when the sample has fewer keys.
std::vector<std::string> bounds_of(const std::vector<std::string>& sorted_sample, std::uint32_t partitions);

}  // namespace dataflow
}  // namespace lp
