#include "programs/training/gradient_guard.h"

#include <string>

#include "programs/training/rows.h"

namespace lp {

const Eigen::VectorXf& GradientGuard::checked(std::uint64_t step, const Eigen::VectorXf& gradient) {
  const std::string whose = "the gradient of worker " + std::to_string(worker_) + " in step " + std::to_string(step);
  if (!must_clip(policy_, flat(gradient), whose)) return gradient;
  clipped_ = gradient;
  clip(flat(clipped_));
  return clipped_;
}

}  // namespace lp
