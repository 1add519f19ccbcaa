#include "programs/agents/action_distribution.h"

#include <cmath>
#include <numbers>
#include <utility>

#include "programs/agents/action_scale.h"
#include "programs/agents/categorical.h"

namespace lp {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::RowVectorXf;

class Choices final : public ActionDistribution {
 public:
  void normalize(MatrixXf& outputs) const override { log_softmax(outputs); }
  void sample(const MatrixXf& parameters, Random& random, MatrixXf& actions) const override {
    lp::sample(parameters, random, actions);
  }
  void most_probable(const MatrixXf& outputs, MatrixXf& actions) const override { lp::most_probable(outputs, actions); }
  RowVectorXf log_probabilities(const MatrixXf& parameters, const MatrixXf& actions) const override {
    return chosen(parameters, actions);
  }
  RowVectorXf entropies(const MatrixXf& parameters) const override { return lp::entropies(parameters); }
  void add_errors(const MatrixXf& parameters, const MatrixXf& actions, const RowVectorXf& by_action, float by_entropy,
                  MatrixXf& errors) const override {
    lp::add_errors(parameters, actions, by_action, by_entropy, errors);
  }
};

// Means, then logarithms of deviations, both in units of half of the action's range.
class Normal final : public ActionDistribution {
 public:
  explicit Normal(const ActionSpace& space) : scale_(space), size_(space.size()) {}

  void normalize(MatrixXf&) const override {}
  void sample(const MatrixXf& parameters, Random& random, MatrixXf& actions) const override {
    MatrixXf unit(size_, parameters.cols());
    for (float& one : unit.reshaped()) one = static_cast<float>(random.normal());
    unit.array() *= parameters.bottomRows(size_).array().exp();
    unit += parameters.topRows(size_);
    actions = scale_.from_unit(unit);
  }
  void most_probable(const MatrixXf& outputs, MatrixXf& actions) const override {
    const MatrixXf means = outputs.topRows(size_);
    actions = scale_.from_unit(means);
  }
  RowVectorXf log_probabilities(const MatrixXf& parameters, const MatrixXf& actions) const override {
    const auto constant = static_cast<float>(size_) * std::log(2 * std::numbers::pi_v<float>) / 2;
    const MatrixXf off = deviations(parameters, actions);
    return (-off.colwise().squaredNorm() / 2 - parameters.bottomRows(size_).colwise().sum()).array() - constant;
  }
  RowVectorXf entropies(const MatrixXf& parameters) const override {
    const auto constant = static_cast<float>(size_) * (1 + std::log(2 * std::numbers::pi_v<float>)) / 2;
    return parameters.bottomRows(size_).colwise().sum().array() + constant;
  }
  void add_errors(const MatrixXf& parameters, const MatrixXf& actions, const RowVectorXf& by_action, float by_entropy,
                  MatrixXf& errors) const override {
    const MatrixXf off = deviations(parameters, actions);
    const auto by_means = off.array() / parameters.bottomRows(size_).array().exp();
    errors.topRows(size_).array() += by_means.rowwise() * by_action.array();
    errors.bottomRows(size_).array() += (off.array().square() - 1).rowwise() * by_action.array() + by_entropy;
  }

 private:
  // (a − μ) / σ.
  MatrixXf deviations(const MatrixXf& parameters, const MatrixXf& actions) const {
    return (scale_.to_unit(actions) - parameters.topRows(size_).array()) / parameters.bottomRows(size_).array().exp();
  }

  const ActionScale scale_;
  const Index size_;
};

class WithDeviations final : public Network {
 public:
  explicit WithDeviations(std::unique_ptr<Network> means) : means_(std::move(means)) {}

  Index inputs() const override { return means_->inputs(); }
  Index outputs() const override { return 2 * means_->outputs(); }
  Index size() const override { return means_->size() + means_->outputs(); }
  Eigen::VectorXf initialize(std::uint64_t seed) const override {
    Eigen::VectorXf out(size());
    out << means_->initialize(seed), Eigen::VectorXf::Zero(means_->outputs());
    return out;
  }
  const MatrixXf& forward(const Parameters& parameters, const MatrixXf& inputs) override {
    outputs_.resize(outputs(), inputs.cols());
    outputs_.topRows(means_->outputs()) = means_->forward(parameters.head(means_->size()), inputs);
    outputs_.bottomRows(means_->outputs()).colwise() = parameters.tail(means_->outputs());
    return outputs_;
  }
  void backward(const Parameters& parameters, const MatrixXf& inputs, const MatrixXf& errors, Gradient gradient,
                MatrixXf* input_errors) override {
    means_->backward(parameters.head(means_->size()), inputs, errors.topRows(means_->outputs()),
                     gradient.head(means_->size()), input_errors);
    gradient.tail(means_->outputs()) = errors.bottomRows(means_->outputs()).rowwise().sum();
  }

 private:
  const std::unique_ptr<Network> means_;
  MatrixXf outputs_{};
};

}  // namespace

std::unique_ptr<ActionDistribution> action_distribution(const ActionSpace& space) {
  if (space.discrete()) return std::make_unique<Choices>();
  return std::make_unique<Normal>(space);
}

std::unique_ptr<Network> policy_network(const MakeNetwork& make, const EnvironmentSpec& spec) {
  if (spec.action.discrete()) return make(spec.observation, spec.action.choices);
  return std::make_unique<WithDeviations>(make(spec.observation, spec.action.size()));
}

}  // namespace lp
