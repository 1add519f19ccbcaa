#include "programs/agents/random_policy.h"

#include <memory>
#include <string>
#include <utility>

#include "lp/base/error.h"
#include "programs/agents/action_distribution.h"
#include "programs/agents/flat_parameters.h"

namespace lp {
namespace {

class RandomPolicy final : public Policy {
 public:
  RandomPolicy(std::unique_ptr<Network> network, std::unique_ptr<ActionDistribution> distribution)
      : network_(std::move(network)), distribution_(std::move(distribution)), parameters_(network_->size()) {}

  void set(const Learned& learned) override { read_parameters(learned.parameters, parameters_); }
  void explore(const Eigen::MatrixXf& observations, Random& random, Choice& out) override {
    outputs_ = network_->forward(parameters_, observations);
    distribution_->normalize(outputs_);
    distribution_->sample(outputs_, random, out.actions);
    out.log_probabilities = distribution_->log_probabilities(outputs_, out.actions);
  }
  void exploit(const Eigen::MatrixXf& observations, Eigen::MatrixXf& actions) override {
    distribution_->most_probable(network_->forward(parameters_, observations), actions);
  }

 private:
  const std::unique_ptr<Network> network_;
  const std::unique_ptr<ActionDistribution> distribution_;
  Eigen::VectorXf parameters_;
  Eigen::MatrixXf outputs_{};
};

}  // namespace

void need_choices(const EnvironmentSpec& spec, const std::string& agent) {
  if (spec.action.discrete()) return;
  throw Error(ErrorKind::failed, agent + " chooses one of several actions, but the environment \"" + spec.name +
                                     "\" has continuous actions: choose another agent");
}

MakePolicy random_policy(const MakeNetwork& network) {
  return [network](const EnvironmentSpec& spec) -> std::unique_ptr<Policy> {
    return std::make_unique<RandomPolicy>(policy_network(network, spec), action_distribution(spec.action));
  };
}

}  // namespace lp
