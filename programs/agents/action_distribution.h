#pragma once
// The distribution of the actions of a policy, given the outputs of its network: for discrete actions softmax of the
// outputs, for continuous ones normal, with means by the network and deviations that do not depend on the state, as in
// the experiments of Schulman et al., "Proximal policy optimization algorithms", 2017, section 6.1.
//
// Matrices have a column for each example. Owned by a policy or a learner; one thread at a time.

#include <memory>

#include <Eigen/Core>

#include "lp/base/random.h"
#include "programs/environments/environment.h"
#include "programs/networks/network.h"

namespace lp {

class ActionDistribution {
 public:
  virtual ~ActionDistribution() = default;

  // Replaces the outputs of the network by the parameters of the distribution, which the other methods take.
  virtual void normalize(Eigen::MatrixXf& outputs) const = 0;

  // Draws an action for each example, in order.
  virtual void sample(const Eigen::MatrixXf& parameters, Random& random, Eigen::MatrixXf& actions) const = 0;
  // Takes the most probable action of each example.
  virtual void most_probable(const Eigen::MatrixXf& outputs, Eigen::MatrixXf& actions) const = 0;

  // The logarithm of the action's probability, or of its density in units of half of the action's range.
  virtual Eigen::RowVectorXf log_probabilities(const Eigen::MatrixXf& parameters,
                                               const Eigen::MatrixXf& actions) const = 0;
  virtual Eigen::RowVectorXf entropies(const Eigen::MatrixXf& parameters) const = 0;
  // Adds to `errors` the derivative, with respect to the outputs, of Σ by_action · log p(action) + Σ by_entropy ·
  // entropy.
  virtual void add_errors(const Eigen::MatrixXf& parameters, const Eigen::MatrixXf& actions,
                          const Eigen::RowVectorXf& by_action, float by_entropy, Eigen::MatrixXf& errors) const = 0;
};

std::unique_ptr<ActionDistribution> action_distribution(const ActionSpace& space);

// The network of a policy, whose outputs the distribution takes: that of `make`, with an output for each choice or each
// value of an action. For continuous actions the logarithms of their deviations are further outputs, and further
// parameters, which begin at 0.
std::unique_ptr<Network> policy_network(const MakeNetwork& make, const EnvironmentSpec& spec);

}  // namespace lp
