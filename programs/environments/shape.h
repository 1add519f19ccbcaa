#pragma once
// The shape of an observation, and of the input of a network. A value.

#include <Eigen/Core>

namespace lp {

// A vector of n values is {1, 1, n}. The values of an image are ordered by channel, then by row, then by column.
struct Shape {
  Eigen::Index channels = 1;
  Eigen::Index height = 1;
  Eigen::Index width = 1;

  Eigen::Index size() const { return channels * height * width; }
};

}  // namespace lp
