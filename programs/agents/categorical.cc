#include "programs/agents/categorical.h"

#include <cmath>

namespace lp {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::RowVectorXf;

void log_softmax(MatrixXf& logits) {
  logits.rowwise() -= logits.colwise().maxCoeff().eval();
  logits.rowwise() -= logits.array().exp().colwise().sum().log().matrix().eval();
}

void sample(const MatrixXf& log_probabilities, Random& random, MatrixXf& actions) {
  actions.resize(1, log_probabilities.cols());
  for (Index i = 0; i < log_probabilities.cols(); ++i) {
    auto left = static_cast<float>(random.uniform());
    Index choice = 0;
    for (; choice + 1 < log_probabilities.rows(); ++choice) {
      left -= std::exp(log_probabilities(choice, i));
      if (left < 0) break;
    }
    actions(i) = static_cast<float>(choice);
  }
}

void most_probable(const MatrixXf& scores, MatrixXf& actions) {
  actions.resize(1, scores.cols());
  for (Index i = 0; i < scores.cols(); ++i) {
    Index best = 0;
    scores.col(i).maxCoeff(&best);
    actions(i) = static_cast<float>(best);
  }
}

RowVectorXf entropies(const MatrixXf& log_probabilities) {
  return -(log_probabilities.array().exp() * log_probabilities.array()).colwise().sum();
}

// d log p(a) / d logits is (1 at a) − p; d entropy / d logit k is −p_k (log p_k + entropy).
void add_errors(const MatrixXf& log_probabilities, const RowVectorXf& actions, const RowVectorXf& by_action,
                float by_entropy, MatrixXf& errors) {
  for (Index i = 0; i < errors.cols(); ++i) {
    const auto logs = log_probabilities.col(i).array();
    const float entropy = -(logs.exp() * logs).sum();
    errors.col(i).array() -= logs.exp() * (by_action(i) + by_entropy * (logs + entropy));
    errors(static_cast<Index>(actions(i)), i) += by_action(i);
  }
}

RowVectorXf chosen(const MatrixXf& log_probabilities, const RowVectorXf& actions) {
  RowVectorXf out(log_probabilities.cols());
  for (Index i = 0; i < out.size(); ++i) out(i) = log_probabilities(static_cast<Index>(actions(i)), i);
  return out;
}

}  // namespace lp
