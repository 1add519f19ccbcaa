#include "programs/agents/td3.h"

#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "nodes/parameters/optimizer.h"
#include "programs/agents/action_scale.h"
#include "programs/agents/flat_parameters.h"
#include "programs/networks/clipping.h"

namespace lp {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::RowVectorXf;
using Eigen::VectorXf;

// Returns the spec if its actions are continuous.
const EnvironmentSpec& continuous(const EnvironmentSpec& spec) {
  if (!spec.action.discrete()) return spec;
  throw Error(ErrorKind::failed, "TD3 needs continuous actions, but the environment \"" + spec.name + "\" has " +
                                     std::to_string(spec.action.choices) + " choices: choose another agent");
}

std::unique_ptr<Network> policy_network(const Td3Options& options, const EnvironmentSpec& spec) {
  return options.policy(spec.observation, spec.action.size());
}
std::unique_ptr<Network> value_network(const Td3Options& options, const EnvironmentSpec& spec) {
  return options.value({.width = spec.observation.size() + spec.action.size()}, 1);
}

class Td3Policy final : public Policy {
 public:
  Td3Policy(const Td3Options& options, const EnvironmentSpec& spec)
      : noise_(options.noise),
        scale_(spec.action),
        network_(policy_network(options, spec)),
        parameters_(network_->size()) {}

  void set(const Learned& learned) override {
    read_parameters(learned.parameters, parameters_);
    random_ = learned.updates == 0;
  }
  void explore(const MatrixXf& observations, Random& random, Choice& out) override {
    unit_ = network_->forward(parameters_, observations).array().tanh();
    for (float& one : unit_.reshaped()) {
      one = random_ ? static_cast<float>(2 * random.uniform() - 1) : one + noise_ * static_cast<float>(random.normal());
    }
    out.actions = scale_.from_unit(unit_);
    out.log_probabilities.setZero(observations.cols());
  }
  void exploit(const MatrixXf& observations, MatrixXf& actions) override {
    unit_ = network_->forward(parameters_, observations).array().tanh();
    actions = scale_.from_unit(unit_);
  }

 private:
  const float noise_;
  const ActionScale scale_;
  const std::unique_ptr<Network> network_;
  VectorXf parameters_;
  bool random_ = true;
  MatrixXf unit_{};
};

// A network, with the copy that follows it slowly, for targets.
struct Tracked {
  std::unique_ptr<Network> network;
  VectorXf parameters;
  VectorXf target;
  VectorXf gradient;
  Optimizer optimizer{};

  Tracked(std::unique_ptr<Network> made, std::uint64_t seed)
      : network(std::move(made)),
        parameters(network->initialize(seed)),
        target(parameters),
        gradient(network->size()) {}
  void apply(float rate) {
    optimizer.rule = Adam{.rate = rate};
    optimizer.apply(span_of(parameters), span_of(gradient));
  }
  void track(float share) { target += share * (parameters - target); }
  void save(Checkpoint& out, const std::string& name) const {
    out.put(name, array_of(parameters));
    out.put(name + ".target", array_of(target));
    out.put(name + ".optimizer", optimizer);
  }
  void load(const Checkpoint& in, const std::string& name) {
    read_parameters(in.get<Array<float>>(name), parameters);
    read_parameters(in.get<Array<float>>(name + ".target"), target);
    optimizer = in.get<Optimizer>(name + ".optimizer");
  }
};

class Td3Learner final : public TransitionLearner {
 public:
  Td3Learner(const Td3Options& options, const EnvironmentSpec& spec, std::uint64_t seed)
      : options_(options),
        scale_(spec.action),
        unit_space_{.low = std::vector<float>(spec.action.low.size(), -1),
                    .high = std::vector<float>(spec.action.low.size(), 1)},
        policy_(policy_network(options, spec), seed),
        values_{Tracked(value_network(options, spec), seed + 1), Tracked(value_network(options, spec), seed + 2)} {}

  Array<float> policy() const override { return array_of(policy_.parameters); }

  MetricValues learn(const Transitions& batch, double, Random random, VectorXf& priorities) override {
    const VectorXf targets = targets_of(batch, random);
    join(batch.observations, scale_.to_unit(batch.actions));
    priorities.setZero(targets.size());
    double loss = 0;
    for (Tracked& one : values_) {
      errors_ = one.network->forward(one.parameters, joined_) - targets.transpose();
      loss += static_cast<double>(errors_.squaredNorm() / static_cast<float>(targets.size())) / 2;
      priorities += errors_.cwiseAbs().transpose() / 2;
      errors_ = errors_.cwiseProduct(batch.weights.transpose()) / static_cast<float>(targets.size());
      one.network->backward(one.parameters, joined_, errors_, one.gradient);
      one.apply(options_.rate);
    }
    check_loss(loss);
    if (values_[0].optimizer.steps % options_.delay == 0) improve_policy(batch.observations);
    return {{"loss", loss}, {"value", static_cast<double>(targets.mean())}};
  }

  void save(Checkpoint& out) const override {
    policy_.save(out, "policy");
    values_[0].save(out, "value0");
    values_[1].save(out, "value1");
  }
  void load(const Checkpoint& in) override {
    policy_.load(in, "policy");
    values_[0].load(in, "value0");
    values_[1].load(in, "value1");
  }

 private:
  // Sets joined_ to the inputs of the values' networks.
  template <class Actions>
  void join(const MatrixXf& observations, const Actions& unit_actions) {
    joined_.resize(observations.rows() + unit_actions.rows(), observations.cols());
    joined_.topRows(observations.rows()) = observations;
    joined_.bottomRows(unit_actions.rows()) = unit_actions;
  }

  VectorXf targets_of(const Transitions& batch, Random& random) {
    actions_ = policy_.network->forward(policy_.target, batch.next).array().tanh();
    smooth_actions(actions_, unit_space_, options_.target_noise, random);
    join(batch.next, actions_);
    const RowVectorXf first = values_[0].network->forward(values_[0].target, joined_);
    const RowVectorXf second = values_[1].network->forward(values_[1].target, joined_);
    return td3_targets(batch.rewards, batch.discounts, first, second);
  }

  // A step up the first value of the policy's actions: the deterministic policy gradient.
  void improve_policy(const MatrixXf& observations) {
    actions_ = policy_.network->forward(policy_.parameters, observations).array().tanh();
    join(observations, actions_);
    values_[0].network->forward(values_[0].parameters, joined_);
    errors_.setConstant(1, joined_.cols(), -1.0F / static_cast<float>(joined_.cols()));
    values_[0].network->backward(values_[0].parameters, joined_, errors_, values_[0].gradient, &input_errors_);
    errors_ = input_errors_.bottomRows(actions_.rows()).array() * (1 - actions_.array().square());
    policy_.network->backward(policy_.parameters, observations, errors_, policy_.gradient);
    policy_.apply(options_.rate);
    policy_.track(options_.tracking);
    for (Tracked& one : values_) one.track(options_.tracking);
  }

  const Td3Options options_;
  const ActionScale scale_;
  const ActionSpace unit_space_;
  Tracked policy_;
  std::array<Tracked, 2> values_;
  // Memory of learn().
  MatrixXf joined_{};
  MatrixXf actions_{};
  MatrixXf errors_{};
  MatrixXf input_errors_{};
};

}  // namespace

Agent td3(const Td3Options& options) {
  if (options.delay == 0)
    throw Error(ErrorKind::failed, "TD3 would improve its policy every 0 updates: give 1 or more");
  return {.name = "td3",
          .policy =
              [options](const EnvironmentSpec& spec) { return std::make_unique<Td3Policy>(options, continuous(spec)); },
          .copies = options.copies,
          .steps = options.steps,
          .training = Replayed{.learner =
                                   [options](const EnvironmentSpec& spec, std::uint64_t seed) {
                                     return std::make_unique<Td3Learner>(options, continuous(spec), seed);
                                   },
                               .batch = options.batch,
                               .items = options.items,
                               .first_items = options.first_items,
                               .samples_per_insert = options.samples_per_insert,
                               .n_step = {.steps = 1, .discount = options.discount}}};
}

}  // namespace lp
