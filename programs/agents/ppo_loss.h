#pragma once
// The clipped loss of PPO (Schulman et al., "Proximal policy optimization algorithms", 2017, equation 7). Pure: any
// thread.

#include <Eigen/Core>

namespace lp {

struct ClippedLoss {
  float loss = 0;               // −mean min(ratio · A, clip(ratio, 1 − clip, 1 + clip) · A)
  Eigen::RowVectorXf errors{};  // the derivative with respect to the log-probabilities of the actions
  float clipped = 0;            // the share of examples whose ratio lies outside 1 ± clip
  float divergence = 0;         // an estimate of KL(old, new): mean of ratio − 1 − log ratio (Schulman, 2020)
};

// The log-probabilities of the actions by the present and by the acting policy, and the actions' advantages A.
ClippedLoss clipped_loss(const Eigen::RowVectorXf& log_probabilities, const Eigen::RowVectorXf& old_log_probabilities,
                         const Eigen::RowVectorXf& advantages, float clip);

}  // namespace lp
