#include "programs/agents/vtrace.h"

namespace lp {

using Eigen::ArrayXf;
using Eigen::Index;

Vtrace vtrace(const Trajectory& trajectory, const Eigen::MatrixXf& log_ratios, const VtraceOptions& options) {
  const Index steps = trajectory.rewards.cols();
  Vtrace out{.values = trajectory.values, .advantages = trajectory.values};
  ArrayXf difference = ArrayXf::Zero(trajectory.rewards.rows());  // v_{s+1} − V(x_{s+1}); 0 past an end
  for (Index s = steps - 1; s >= 0; --s) {
    const ArrayXf ratio = log_ratios.col(s).array().exp();
    const ArrayXf weight = ratio.min(options.most_weight);
    difference *= trajectory.goes_on.col(s).array();
    const ArrayXf next = trajectory.next_values.col(s).array() + difference;
    const ArrayXf reward = trajectory.rewards.col(s).array();
    const ArrayXf value = trajectory.values.col(s).array();
    out.advantages.col(s) = weight * (reward + options.discount * next - value);
    const ArrayXf delta = weight * (reward + options.discount * trajectory.next_values.col(s).array() - value);
    difference = delta + options.discount * ratio.min(options.most_trace) * difference;
    out.values.col(s) += difference.matrix();
  }
  return out;
}

}  // namespace lp
