#include "programs/agents/td3_targets.h"

#include <algorithm>
#include <cstddef>

namespace lp {

using Eigen::Index;

void smooth_actions(Eigen::MatrixXf& actions, const ActionSpace& space, const TargetNoise& noise, Random& random) {
  for (Index i = 0; i < actions.cols(); ++i) {
    for (Index k = 0; k < actions.rows(); ++k) {
      const float low = space.low[static_cast<std::size_t>(k)];
      const float high = space.high[static_cast<std::size_t>(k)];
      const float drawn = std::clamp(noise.deviation * static_cast<float>(random.normal()), -noise.most, noise.most);
      actions(k, i) = std::clamp(actions(k, i) + drawn * (high - low) / 2, low, high);
    }
  }
}

Eigen::VectorXf td3_targets(const Eigen::VectorXf& rewards, const Eigen::VectorXf& discounts,
                            const Eigen::RowVectorXf& first, const Eigen::RowVectorXf& second) {
  return rewards + discounts.cwiseProduct(first.cwiseMin(second).transpose());
}

}  // namespace lp
