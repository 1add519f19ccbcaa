#pragma once
// Applies the policy for bad values to a worker's gradients, in schemes whose servers do not check them. Owned by a
// worker; one thread.

#include <cstdint>

#include <Eigen/Core>

#include "nodes/parameters/bad_values.h"

namespace lp {

class GradientGuard {
 public:
  GradientGuard(BadValues policy, std::uint32_t worker) : policy_(policy), worker_(worker) {}

  // Returns the gradient, clipped if the policy demands it. Error::failed, which names the worker, when the gradient is
  // refused.
  const Eigen::VectorXf& checked(std::uint64_t step, const Eigen::VectorXf& gradient);

 private:
  BadValues policy_;
  std::uint32_t worker_;
  Eigen::VectorXf clipped_{};
};

}  // namespace lp
