#include "programs/agents/ppo_loss.h"

#include <algorithm>
#include <cmath>

namespace lp {

ClippedLoss clipped_loss(const Eigen::RowVectorXf& log_probabilities, const Eigen::RowVectorXf& old_log_probabilities,
                         const Eigen::RowVectorXf& advantages, float clip) {
  const auto count = static_cast<float>(log_probabilities.size());
  ClippedLoss out;
  out.errors.setZero(log_probabilities.size());
  for (Eigen::Index i = 0; i < log_probabilities.size(); ++i) {
    const float log_ratio = log_probabilities(i) - old_log_probabilities(i);
    const float ratio = std::exp(log_ratio);
    const float bounded = std::clamp(ratio, 1 - clip, 1 + clip);
    const float free_gain = ratio * advantages(i);
    const float bounded_gain = bounded * advantages(i);
    out.loss -= std::min(free_gain, bounded_gain) / count;
    if (free_gain <= bounded_gain) out.errors(i) = -free_gain / count;
    if (bounded != ratio) out.clipped += 1 / count;
    out.divergence += (ratio - 1 - log_ratio) / count;
  }
  return out;
}

}  // namespace lp
