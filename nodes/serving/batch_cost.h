#pragma once
// Estimates how long a batch takes from the batches before it: a line over the sizes, by least squares in which each
// batch weighs less than the one after it, and a margin for the deviation from that line, as TCP estimates a round trip
// (Jacobson, "Congestion avoidance and control", SIGCOMM 1988). A value.

#include <cstddef>

#include "lp/base/scheduler.h"

namespace lp {

class BatchCost {
 public:
  void measured(std::size_t size, Duration time);
  // 0 before the first measurement.
  Duration estimate(std::size_t size) const;

 private:
  static constexpr double kDecay = 0.9;   // weight of a batch, compared with the one after it
  static constexpr double kGain = 0.25;   // weight of the newest deviation
  static constexpr double kMargin = 2.0;  // mean deviations

  double line(double size) const;

  // Sums over the batches, with their weights; times in seconds.
  double weight_ = 0;
  double sizes_ = 0;
  double times_ = 0;
  double squares_ = 0;   // size · size
  double products_ = 0;  // size · time
  double deviation_ = 0;
};

}  // namespace lp
