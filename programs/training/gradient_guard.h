#pragma once
// What a worker does with a gradient that is not finite, in schemes whose servers do not look. Owned by a worker; one
// thread.

#include <cstdint>

#include <Eigen/Core>

#include "nodes/parameters/bad_values.h"

namespace lp {

class GradientGuard {
 public:
  GradientGuard(BadValues policy, std::uint32_t worker) : policy_(policy), worker_(worker) {}

  // The gradient, or what the policy makes of it. Error::failed, which names the worker, when it is refused.
  const Eigen::VectorXf& checked(std::uint64_t step, const Eigen::VectorXf& gradient);

 private:
  BadValues policy_;
  std::uint32_t worker_;
  Eigen::VectorXf clipped_{};
};

}  // namespace lp
