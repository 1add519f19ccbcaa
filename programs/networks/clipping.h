#pragma once
// Bounds the length of a gradient, and reports a training that has diverged. Pure: any thread.

#include <Eigen/Core>

namespace lp {

// Scales the gradient so that its length is at most `most` (Pascanu, Mikolov and Bengio, "On the difficulty of training
// recurrent neural networks", ICML 2013, algorithm 1). Returns its length before. Error::failed when a value is not
// finite.
float clip_norm(Eigen::VectorXf& gradient, float most);

// Error::failed when the loss is not finite.
void check_loss(double loss);

}  // namespace lp
