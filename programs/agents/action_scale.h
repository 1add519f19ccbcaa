#pragma once
// Between the actions of an environment and those of a network, which lie between −1 and 1. A value.

#include <Eigen/Core>

#include "programs/environments/environment.h"

namespace lp {

class ActionScale {
 public:
  // The actions must be continuous.
  explicit ActionScale(const ActionSpace& space);

  // Both take and give action size × examples.
  auto from_unit(const Eigen::MatrixXf& actions) const {
    return (actions.array().colwise() * half_.array()).colwise() + middle_.array();
  }
  auto to_unit(const Eigen::MatrixXf& actions) const {
    return (actions.array().colwise() - middle_.array()).colwise() / half_.array();
  }

 private:
  Eigen::VectorXf middle_;
  Eigen::VectorXf half_;
};

}  // namespace lp
