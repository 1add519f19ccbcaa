#include "programs/agents/dqn.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "lp/base/error.h"
#include "nodes/parameters/optimizer.h"
#include "programs/agents/categorical.h"
#include "programs/agents/flat_parameters.h"
#include "programs/agents/q_values.h"
#include "programs/agents/random_policy.h"
#include "programs/networks/clipping.h"

namespace lp {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::VectorXf;

// A transition's priority is the size of its derivative, at most 1, as that of a new transition, plus this much: so a
// transition without an error is sampled again, too.
constexpr float kLeastPriority = 0.01F;

std::unique_ptr<Network> dueling_network(const DqnOptions& options, const EnvironmentSpec& spec) {
  need_choices(spec, "DQN");
  return options.network(spec.observation, spec.action.choices + 1);
}

// Takes the action of the largest value, or with a falling probability one at random.
class DqnPolicy final : public Policy {
 public:
  DqnPolicy(const DqnOptions& options, const EnvironmentSpec& spec)
      : options_(options), network_(dueling_network(options, spec)), parameters_(network_->size()) {}

  void set(const Learned& learned) override {
    read_parameters(learned.parameters, parameters_);
    const auto fallen = std::min(static_cast<float>(learned.progress) / options_.falling, 1.0F);
    chance_ = 1 + fallen * (options_.least_chance - 1);
  }
  void explore(const MatrixXf& observations, Random& random, Choice& out) override {
    exploit(observations, out.actions);
    const auto choices = static_cast<std::uint64_t>(values_.rows());
    for (float& action : out.actions.reshaped()) {
      if (random.uniform() < static_cast<double>(chance_)) action = static_cast<float>(random.below(choices));
    }
    out.log_probabilities.setZero(observations.cols());
  }
  void exploit(const MatrixXf& observations, MatrixXf& actions) override {
    dueling_values(network_->forward(parameters_, observations), values_);
    most_probable(values_, actions);
  }

 private:
  const DqnOptions options_;
  const std::unique_ptr<Network> network_;
  VectorXf parameters_;
  MatrixXf values_{};
  float chance_ = 1;
};

class DqnLearner final : public TransitionLearner {
 public:
  DqnLearner(const DqnOptions& options, const EnvironmentSpec& spec, std::uint64_t seed)
      : options_(options),
        network_(dueling_network(options, spec)),
        parameters_(network_->initialize(seed)),
        target_(parameters_),
        gradient_(network_->size()) {}

  Array<float> policy() const override { return array_of(target_); }

  MetricValues learn(const Transitions& batch, double progress, Random, VectorXf& priorities) override {
    const auto count = static_cast<float>(batch.rewards.size());
    dueling_values(network_->forward(parameters_, batch.next), next_online_);
    dueling_values(network_->forward(target_, batch.next), next_target_);
    const VectorXf targets = double_q_targets(batch.rewards, batch.discounts, next_online_, next_target_);
    dueling_values(network_->forward(parameters_, batch.observations), values_);
    errors_.setZero(values_.rows(), values_.cols());
    priorities.resize(batch.rewards.size());
    double loss = 0;
    for (Index i = 0; i < values_.cols(); ++i) {
      const auto action = static_cast<Index>(batch.actions(0, i));
      const float difference = values_(action, i) - targets(i);
      loss += static_cast<double>(batch.weights(i) * huber(difference) / count);
      errors_(action, i) = batch.weights(i) * std::clamp(difference, -1.0F, 1.0F) / count;
      priorities(i) = std::min(std::abs(difference), 1.0F) + kLeastPriority;
    }
    check_loss(loss);
    dueling_errors(errors_, output_errors_);
    network_->backward(parameters_, batch.observations, output_errors_, gradient_);
    clip_norm(gradient_, options_.most_norm);
    optimizer_.rule = Adam{.rate = options_.rate * static_cast<float>(1 - progress)};
    optimizer_.apply(span_of(parameters_), span_of(gradient_));
    target_ += options_.tracking * (parameters_ - target_);
    return {{"loss", loss}, {"value", static_cast<double>(values_.mean())}};
  }

  void save(Checkpoint& out) const override {
    out.put("parameters", array_of(parameters_));
    out.put("target", array_of(target_));
    out.put("optimizer", optimizer_);
  }
  void load(const Checkpoint& in) override {
    read_parameters(in.get<Array<float>>("parameters"), parameters_);
    read_parameters(in.get<Array<float>>("target"), target_);
    optimizer_ = in.get<Optimizer>("optimizer");
  }

 private:
  const DqnOptions options_;
  const std::unique_ptr<Network> network_;
  VectorXf parameters_;
  VectorXf target_;
  VectorXf gradient_;
  Optimizer optimizer_{};
  // Memory of learn().
  MatrixXf next_online_{};
  MatrixXf next_target_{};
  MatrixXf values_{};
  MatrixXf errors_{};
  MatrixXf output_errors_{};
};

}  // namespace

Agent dqn(const DqnOptions& options) {
  if (!(options.tracking > 0 && options.tracking <= 1)) {
    throw Error(ErrorKind::failed, "DQN's second network follows by a share above 0 and at most 1, but tracking is " +
                                       std::to_string(options.tracking));
  }
  return {.name = "dqn",
          .policy = [options](const EnvironmentSpec& spec) { return std::make_unique<DqnPolicy>(options, spec); },
          .copies = options.copies,
          .steps = options.steps,
          .training = Replayed{
              .learner = [options](const EnvironmentSpec& spec,
                                   std::uint64_t seed) { return std::make_unique<DqnLearner>(options, spec, seed); },
              .batch = options.batch,
              .items = options.items,
              .first_items = options.first_items,
              .samples_per_insert = options.samples_per_insert,
              .priority_exponent = options.priority_exponent,
              .n_step = options.n_step}};
}

}  // namespace lp
