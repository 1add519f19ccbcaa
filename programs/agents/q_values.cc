#include "programs/agents/q_values.h"

#include <cmath>

namespace lp {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::VectorXf;

VectorXf double_q_targets(const VectorXf& rewards, const VectorXf& discounts, const MatrixXf& next_online,
                          const MatrixXf& next_target) {
  VectorXf out(rewards.size());
  for (Index i = 0; i < out.size(); ++i) {
    Index best = 0;
    next_online.col(i).maxCoeff(&best);
    out(i) = rewards(i) + discounts(i) * next_target(best, i);
  }
  return out;
}

void dueling_values(const MatrixXf& outputs, MatrixXf& values) {
  const Index choices = outputs.rows() - 1;
  values = outputs.topRows(choices);
  values.rowwise() += outputs.row(choices) - outputs.topRows(choices).colwise().mean();
}

void dueling_errors(const MatrixXf& value_errors, MatrixXf& errors) {
  const Index choices = value_errors.rows();
  errors.resize(choices + 1, value_errors.cols());
  errors.row(choices) = value_errors.colwise().sum();
  errors.topRows(choices) = value_errors;
  errors.topRows(choices).rowwise() -= errors.row(choices) / static_cast<float>(choices);
}

float huber(float difference) {
  const float size = std::abs(difference);
  return size <= 1 ? 0.5F * size * size : size - 0.5F;
}

}  // namespace lp
