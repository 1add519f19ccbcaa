#include "nodes/serving/batch_cost.h"

#include <algorithm>
#include <cmath>

namespace lp {

void BatchCost::measured(std::size_t size, Duration time) {
  const auto n = static_cast<double>(size);
  const double t = to_seconds(time);
  deviation_ = weight_ == 0 ? t / 2 : deviation_ + kGain * (std::abs(t - line(n)) - deviation_);
  weight_ = kDecay * weight_ + 1;
  sizes_ = kDecay * sizes_ + n;
  times_ = kDecay * times_ + t;
  squares_ = kDecay * squares_ + n * n;
  products_ = kDecay * products_ + n * t;
}

Duration BatchCost::estimate(std::size_t size) const {
  if (weight_ == 0) return Duration::zero();
  return from_seconds(line(static_cast<double>(size)) + kMargin * deviation_);
}

// Neither a larger batch nor an empty one takes less than nothing: the slope lies between 0 and that of a line through
// the origin, which it is when all sizes were equal.
double BatchCost::line(double size) const {
  const double mean_size = sizes_ / weight_;
  const double mean_time = times_ / weight_;
  const double variance = squares_ / weight_ - mean_size * mean_size;
  const double most = mean_time / mean_size;
  double slope = most;
  if (variance > 1e-6 * mean_size * mean_size) {
    slope = std::clamp((products_ / weight_ - mean_size * mean_time) / variance, 0.0, most);
  }
  return mean_time + slope * (size - mean_size);
}

}  // namespace lp
