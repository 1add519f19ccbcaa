#pragma once
// The targets of TD3 (Fujimoto, van Hoof and Meger, "Addressing function approximation error in actor-critic methods",
// ICML 2018, algorithm 1). Pure: any thread.

#include <Eigen/Core>

#include "lp/base/random.h"
#include "programs/environments/environment.h"

namespace lp {

struct TargetNoise {
  float deviation = 0.2F;
  float most = 0.5F;
};

// Adds clipped normal noise to the target policy's actions (action size × examples), then brings them between low and
// high. The noise is a share of half the range of each action.
void smooth_actions(Eigen::MatrixXf& actions, const ActionSpace& space, const TargetNoise& noise, Random& random);

// reward + discount · min(Q1', Q2') of the smoothed next actions.
Eigen::VectorXf td3_targets(const Eigen::VectorXf& rewards, const Eigen::VectorXf& discounts,
                            const Eigen::RowVectorXf& first, const Eigen::RowVectorXf& second);

}  // namespace lp
