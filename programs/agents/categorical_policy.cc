#include "programs/agents/categorical_policy.h"

#include <memory>
#include <string>
#include <utility>

#include "lp/base/error.h"
#include "programs/agents/categorical.h"
#include "programs/agents/flat_parameters.h"

namespace lp {
namespace {

class CategoricalPolicy final : public Policy {
 public:
  explicit CategoricalPolicy(std::unique_ptr<Network> network)
      : network_(std::move(network)), parameters_(network_->size()) {}

  void set(const Learned& learned) override { read_parameters(learned.parameters, parameters_); }
  void explore(const Eigen::MatrixXf& observations, Random& random, Choice& out) override {
    scores_ = network_->forward(parameters_, observations);
    log_softmax(scores_);
    sample(scores_, random, out.actions);
    out.log_probabilities = chosen(scores_, out.actions);
  }
  void exploit(const Eigen::MatrixXf& observations, Eigen::MatrixXf& actions) override {
    most_probable(network_->forward(parameters_, observations), actions);
  }

 private:
  const std::unique_ptr<Network> network_;
  Eigen::VectorXf parameters_;
  Eigen::MatrixXf scores_{};
};

}  // namespace

void need_choices(const EnvironmentSpec& spec, const std::string& agent) {
  if (spec.action.discrete()) return;
  throw Error(ErrorKind::failed, agent + " chooses one of several actions, but the environment \"" + spec.name +
                                     "\" has continuous actions: choose another agent");
}

MakePolicy categorical_policy(const MakeNetwork& network) {
  return [network](const EnvironmentSpec& spec) -> std::unique_ptr<Policy> {
    need_choices(spec, "this policy");
    return std::make_unique<CategoricalPolicy>(network(spec.observation, spec.action.choices));
  };
}

}  // namespace lp
