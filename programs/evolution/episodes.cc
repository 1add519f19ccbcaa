#include "programs/evolution/episodes.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/random.h"
#include "programs/agents/action_scale.h"
#include "programs/agents/categorical.h"
#include "programs/agents/flat_parameters.h"
#include "programs/environments/environment_batch.h"

namespace lp {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::VectorXf;

std::unique_ptr<Network> network_of(const EpisodeOptions& options, const EnvironmentSpec& spec) {
  return options.network(spec.observation, spec.action.discrete() ? spec.action.choices : spec.action.size());
}
Index normalized_values(const EpisodeOptions& options, const EnvironmentSpec& spec) {
  return options.normalize ? spec.observation.size() : 0;
}

// Its parameters are the network's, then the mean and the inverse deviation of each value of an observation.
class EpisodePolicy final : public Policy {
 public:
  static constexpr float kMost = 5;  // deviations: a value that is farther from its mean counts as this

  EpisodePolicy(const EpisodeOptions& options, const EnvironmentSpec& spec)
      : network_(network_of(options, spec)),
        normalized_(normalized_values(options, spec)),
        parameters_(network_->size() + 2 * normalized_) {
    if (!spec.action.discrete()) scale_.emplace(spec.action);
  }

  void set(const Learned& learned) override { read_parameters(learned.parameters, parameters_); }
  void explore(const MatrixXf& observations, Random&, Choice& out) override {
    exploit(observations, out.actions);
    out.log_probabilities.setZero(observations.cols());
  }
  void exploit(const MatrixXf& observations, MatrixXf& actions) override {
    const MatrixXf& outputs = network_->forward(parameters_.head(network_->size()), seen(observations));
    if (!scale_) {
      most_probable(outputs, actions);
      return;
    }
    unit_ = outputs.array().tanh();
    actions = scale_->from_unit(unit_);
  }

 private:
  const MatrixXf& seen(const MatrixXf& observations) {
    if (normalized_ == 0) return observations;
    const auto scale = parameters_.tail(2 * normalized_);
    seen_ = ((observations.colwise() - scale.head(normalized_)).array().colwise() * scale.tail(normalized_).array())
                .cwiseMax(-kMost)
                .cwiseMin(kMost);
    return seen_;
  }

  const std::unique_ptr<Network> network_;
  const Index normalized_;
  std::optional<ActionScale> scale_{};  // if actions are continuous
  VectorXf parameters_;
  MatrixXf seen_{};
  MatrixXf unit_{};
};

class EpisodeObjective final : public Objective {
 public:
  EpisodeObjective(const EpisodeOptions& options, std::uint64_t seed)
      : options_(options),
        environments_(options.environment, options.episodes, Random(seed, "evaluated episodes")()),
        policy_(std::make_unique<EpisodePolicy>(options, environments_.spec())) {}

  const std::string& name() const override { return environments_.spec().name; }
  std::size_t size() const override {
    return static_cast<std::size_t>(network_of(options_, environments_.spec())->size());
  }
  VectorXf start(std::uint64_t seed) const override {
    return network_of(options_, environments_.spec())->initialize(seed);
  }
  std::size_t normalized() const override {
    return static_cast<std::size_t>(normalized_values(options_, environments_.spec()));
  }

  Evaluation evaluate(std::span<const float> parameters, std::uint64_t trial) override {
    policy_->set({.parameters = Array<float>::copy_of(parameters)});
    const std::size_t copies = environments_.copies();
    environments_.reset(trial);
    playing_.assign(copies, true);
    Evaluation out{.steps = 0, .episodes = copies};
    for (std::size_t left = copies; left > 0;) left -= step(out);
    out.value /= static_cast<double>(copies);
    return out;
  }

 private:
  // Acts in all copies; returns how many of them end their episode.
  std::size_t step(Evaluation& out) {
    if (options_.normalize) out.observations.add(environments_.observations());
    policy_->exploit(environments_.observations(), actions_);
    environments_.step(actions_);
    std::size_t ended = 0;
    for (const FinishedEpisode& one : environments_.finished()) {
      if (!playing_[one.copy]) continue;  // the copy plays on while others are in their first episode
      playing_[one.copy] = false;
      out.value += one.reward;
      out.steps += one.steps;
      ++ended;
    }
    return ended;
  }

  const EpisodeOptions options_;
  EnvironmentBatch environments_;
  const std::unique_ptr<EpisodePolicy> policy_;
  std::vector<bool> playing_{};
  MatrixXf actions_{};
};

}  // namespace

MakeObjective episode_objective(const EpisodeOptions& options) {
  if (!options.environment) throw Error(ErrorKind::failed, "an objective of episodes needs an environment");
  if (options.episodes == 0) throw Error(ErrorKind::failed, "an objective of episodes needs at least 1 episode");
  return [options](std::uint64_t seed) { return std::make_unique<EpisodeObjective>(options, seed); };
}

MakePolicy episode_policy(const EpisodeOptions& options) {
  return [options](const EnvironmentSpec& spec) { return std::make_unique<EpisodePolicy>(options, spec); };
}

}  // namespace lp
