#include "lp/program/value_histogram.h"

#include <algorithm>
#include <cmath>

namespace lp {

namespace {
// A sum of very large numbers stays a number.
double within_range(double value) {
  constexpr double kMost = std::numeric_limits<double>::max();
  return std::clamp(value, -kMost, kMost);
}
}  // namespace

double ValueHistogram::bound(std::size_t bucket) const {
  if (bucket + 1 == kBuckets) return most;
  return std::lerp(least, most, static_cast<double>(bucket + 1) / kBuckets);
}

void ValueHistogram::measure(double value) {
  if (!std::isfinite(value)) return;
  ++count;
  least = std::min(least, value);
  most = std::max(most, value);
  sum = within_range(sum + value);
  squares = within_range(squares + value * value);
}

void ValueHistogram::put(double value) {
  if (!std::isfinite(value)) return;
  // Halves, because the whole width of very large numbers is infinite.
  const double width = most / 2 - least / 2;
  const double place = width > 0 ? (value / 2 - least / 2) / width * kBuckets : 0;
  ++buckets[std::min(static_cast<std::size_t>(place), kBuckets - 1)];
}

}  // namespace lp
