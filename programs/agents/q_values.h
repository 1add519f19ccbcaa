#pragma once
// Targets and heads of networks that learn the values Q of actions. Matrices are choices × examples. Pure: any thread.

#include <Eigen/Core>

namespace lp {

// Targets of double Q-learning: reward + discount · Q'(next, a*), where a* is the best action by the online network and
// Q' is the target network's value (van Hasselt, Guez and Silver, AAAI 2016, equation 4). `discounts` has the discount
// to the power of the number of steps, or 0 where the episode had ended by itself.
Eigen::VectorXf double_q_targets(const Eigen::VectorXf& rewards, const Eigen::VectorXf& discounts,
                                 const Eigen::MatrixXf& next_online, const Eigen::MatrixXf& next_target);

// The values Q of a dueling network, whose last row of outputs is V and whose other rows are the advantages A:
// Q = V + A − mean A (Wang et al., ICML 2016, equation 9).
void dueling_values(const Eigen::MatrixXf& outputs, Eigen::MatrixXf& values);
// The derivative with respect to the outputs, from that with respect to the values.
void dueling_errors(const Eigen::MatrixXf& value_errors, Eigen::MatrixXf& errors);

// Huber's loss of a difference (Annals of Mathematical Statistics 35, 1964): quadratic up to 1, then linear. Its
// derivative is the difference, clipped to ±1, as in Mnih et al., Nature 518, 2015.
float huber(float difference);

}  // namespace lp
