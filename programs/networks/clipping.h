#pragma once
// Bounds the length of a gradient. Pure: any thread.

#include <Eigen/Core>

namespace lp {

// Scales the gradient so that its length is at most `most` (Pascanu, Mikolov and Bengio, "On the difficulty of training
// recurrent neural networks", ICML 2013, algorithm 1). Returns its length before. Error::failed when a value is not
// finite.
float clip_norm(Eigen::VectorXf& gradient, float most);

}  // namespace lp
