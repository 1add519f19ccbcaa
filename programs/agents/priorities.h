#pragma once
// The weights that make up for sampling by priority. Pure: any thread.

#include <Eigen/Core>

namespace lp {

// (size · probability)^−exponent of each example, divided by the largest of them (Schaul, Quan, Antonoglou and Silver,
// "Prioritized experience replay", ICLR 2016, section 3.4). `size` is the number of items that the examples were drawn
// from. Error::failed when a probability is not above 0.
Eigen::VectorXf importance_weights(const Eigen::VectorXf& probabilities, double size, double exponent);

}  // namespace lp
