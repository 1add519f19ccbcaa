#include "programs/agents/priorities.h"

#include <cmath>
#include <string>

#include "lp/base/error.h"

namespace lp {

Eigen::VectorXf importance_weights(const Eigen::VectorXf& probabilities, double size, double exponent) {
  Eigen::VectorXf out(probabilities.size());
  for (Eigen::Index i = 0; i < out.size(); ++i) {
    const auto probability = static_cast<double>(probabilities(i));
    if (!(probability > 0)) {
      throw Error(ErrorKind::failed, "example " + std::to_string(i) + " was drawn with probability " +
                                         std::to_string(probability) + ": it must be above 0");
    }
    out(i) = static_cast<float>(std::pow(size * probability, -exponent));
  }
  if (out.size() > 0) out /= out.maxCoeff();
  return out;
}

}  // namespace lp
