#include "programs/agents/returns.h"

#include <algorithm>

namespace lp {

using Eigen::Index;
using Eigen::MatrixXf;

MatrixXf advantages(const Trajectory& trajectory, float discount, float decay) {
  MatrixXf out = trajectory.rewards + discount * trajectory.next_values - trajectory.values;
  for (Index t = out.cols() - 2; t >= 0; --t) {
    out.col(t) += discount * decay * trajectory.goes_on.col(t).cwiseProduct(out.col(t + 1));
  }
  return out;
}

MatrixXf n_step_returns(const Trajectory& trajectory, float discount, int n) {
  const MatrixXf& rewards = trajectory.rewards;
  MatrixXf out(rewards.rows(), rewards.cols());
  for (Index copy = 0; copy < out.rows(); ++copy) {
    for (Index t = 0; t < out.cols(); ++t) {
      Index last = std::min(t + n, out.cols()) - 1;
      for (Index k = t; k < last; ++k) {
        if (trajectory.goes_on(copy, k) == 0) last = k;
      }
      float sum = trajectory.next_values(copy, last);
      for (Index k = last; k >= t; --k) sum = rewards(copy, k) + discount * sum;
      out(copy, t) = sum;
    }
  }
  return out;
}

}  // namespace lp
