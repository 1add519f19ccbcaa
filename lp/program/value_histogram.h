#pragma once
// How many values lie where: a histogram with buckets of one width between the least value and the most. A value; it
// copies.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace lp {

struct ValueHistogram {
  static constexpr std::size_t kBuckets = 30;  // as many as TensorBoard shows

  std::uint64_t count = 0;  // values that are numbers; NaN and infinity are left out
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();
  double sum = 0;
  double squares = 0;  // the sum of their squares
  std::array<double, kBuckets> buckets{};

  // Where the bucket ends; the last one has the most.
  double bound(std::size_t bucket) const;
  // First all values are measured, then each of them is put into its bucket.
  void measure(double value);
  void put(double value);
};

// The histogram of the numbers in a container, such as a std::vector<float> or an Eigen::VectorXf.
template <class Values>
ValueHistogram histogram_of(const Values& values) {
  ValueHistogram all;
  for (const auto& value : values) all.measure(static_cast<double>(value));
  for (const auto& value : values) all.put(static_cast<double>(value));
  return all;
}

}  // namespace lp
