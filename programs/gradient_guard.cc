#include "programs/gradient_guard.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "lp/base/error.h"

namespace lp {

const Eigen::VectorXf& GradientGuard::checked(std::uint64_t step, const Eigen::VectorXf& gradient) {
  if (policy_ == BadValues::pass || gradient.allFinite()) return gradient;
  if (policy_ == BadValues::clip) {
    clipped_ = gradient.unaryExpr([](float g) { return std::isnan(g) ? 0.0F : std::clamp(g, -1.0F, 1.0F); });
    return clipped_;
  }
  throw Error(ErrorKind::failed, "the gradient of worker " + std::to_string(worker_) + " in step " +
                                     std::to_string(step) + " is not finite: a lower learning rate may help");
}

}  // namespace lp
