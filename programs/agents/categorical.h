#pragma once
// The distribution of a policy that chooses one of several actions: softmax of its network's outputs (logits). Matrices
// are choices × examples; a chosen action is its number. Pure: any thread.

#include <Eigen/Core>

#include "lp/base/random.h"

namespace lp {

// Replaces logits by the logarithms of the probabilities, without overflow.
void log_softmax(Eigen::MatrixXf& logits);

// Draws an action for each example, in order.
void sample(const Eigen::MatrixXf& log_probabilities, Random& random, Eigen::MatrixXf& actions);
// Takes the most probable action of each example; of equal ones the first.
void most_probable(const Eigen::MatrixXf& scores, Eigen::MatrixXf& actions);

// −Σ p log p of each example, in natural units.
Eigen::RowVectorXf entropies(const Eigen::MatrixXf& log_probabilities);

// Adds to `errors` the derivative, with respect to the logits, of Σ by_action · log p(action) + Σ by_entropy · entropy.
void add_errors(const Eigen::MatrixXf& log_probabilities, const Eigen::RowVectorXf& actions,
                const Eigen::RowVectorXf& by_action, float by_entropy, Eigen::MatrixXf& errors);

// log p(action) of each example.
Eigen::RowVectorXf chosen(const Eigen::MatrixXf& log_probabilities, const Eigen::RowVectorXf& actions);

}  // namespace lp
