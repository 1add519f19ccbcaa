#include "programs/networks/clipping.h"

#include <cmath>
#include <string>

#include "lp/base/error.h"

namespace lp {

float clip_norm(Eigen::VectorXf& gradient, float most) {
  const float norm = gradient.norm();
  if (!std::isfinite(norm)) {
    throw Error(ErrorKind::failed, "the length of a gradient is " + std::to_string(norm) +
                                       ": the training has diverged; use a smaller learning rate");
  }
  if (norm > most) gradient *= most / norm;
  return norm;
}

}  // namespace lp
