#include "programs/networks/clipping.h"

#include <cmath>
#include <string>

#include "lp/base/error.h"

namespace lp {
namespace {

[[noreturn]] void fail(const std::string& value, double is) {
  throw_failed(value + " is " + std::to_string(is) +
               ": the training has diverged; use a smaller learning rate or smaller rewards");
}

}  // namespace

float clip_norm(Eigen::VectorXf& gradient, float most) {
  const float norm = gradient.norm();
  if (!std::isfinite(norm)) fail("the length of a gradient", static_cast<double>(norm));
  if (norm > most) gradient *= most / norm;
  return norm;
}

void check_loss(double loss) {
  if (!std::isfinite(loss)) fail("the loss", loss);
}

}  // namespace lp
