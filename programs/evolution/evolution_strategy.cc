// Built with -ffp-contract=off: the compiler may use vectors, but every element gets the same operations.
#include "programs/evolution/evolution_strategy.h"

#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "lp/base/error.h"
#include "programs/evolution/ranks.h"
#include "programs/evolution/strategy_state.h"

namespace lp {
namespace {

void check(const EvolutionStrategyOptions& options) {
  const auto need = [](bool fits, const std::string& what) {
    if (!fits) throw Error(ErrorKind::failed, "an evolution strategy needs " + what);
  };
  need(options.pairs > 0, "at least 1 pair");
  need(options.sigma > 0 && std::isfinite(options.sigma), "a finite sigma above 0");
  need(options.adam.rate > 0 && std::isfinite(options.adam.rate), "a finite rate above 0");
  need(options.weight_decay >= 0 && std::isfinite(options.weight_decay), "a finite weight decay of 0 or more");
  need(options.shrink > 0 && options.shrink <= 1, "a shrink above 0, up to 1");
}

class HostState final : public StrategyState {
 public:
  HostState(std::vector<float> centre, const Adam& rule, const Noise& noise)
      : noise_(noise), centre_(std::move(centre)), gradient_(centre_.size()), adam_{.rule = rule} {}

  double descend(std::span<const Trial> trials, std::span<const float> weights, const Adam& rule,
                 float decay) override {
    gradient_.assign(gradient_.size(), 0);
    for (std::size_t trial = 0; trial < trials.size(); ++trial) {
      const float weight = weights[trial];
      if (weight == 0) continue;
      const std::span<const float> noise = noise_.at(trials[trial].index, gradient_.size(), room_);
      for (std::size_t i = 0; i < noise.size(); ++i) gradient_[i] += weight * noise[i];
    }
    double squares = 0;
    for (std::size_t i = 0; i < centre_.size(); ++i) {
      gradient_[i] = decay * centre_[i] - gradient_[i];
      squares += double{gradient_[i]} * double{gradient_[i]};
    }
    adam_.rule = rule;
    adam_.apply(centre_, gradient_);
    return squares;
  }

  Array<float> centre() const override { return Array<float>::copy_of(centre_); }
  Optimizer adam() const override { return adam_; }
  void restore(std::span<const float> centre, const Optimizer& adam) override {
    centre_.assign(centre.begin(), centre.end());
    adam_ = adam;
  }

 private:
  const Noise& noise_;
  std::vector<float> centre_;
  std::vector<float> gradient_;
  Optimizer adam_;
  std::vector<float> room_{};
};

class EvolutionStrategy final : public Search {
 public:
  EvolutionStrategy(const EvolutionStrategyOptions& options, Eigen::Index size, std::unique_ptr<StrategyState> state)
      : options_(options),
        size_(static_cast<std::size_t>(size)),
        sigma_(options.sigma),
        rule_(options.adam),
        state_(std::move(state)) {}

  std::size_t trials() const override { return options_.pairs; }
  Distribution distribution() const override { return {.centre = state_->centre(), .sigma = sigma_}; }

  MetricValues tell(std::span<const Trial> trials) override {
    const double squares = state_->descend(trials, weights_of(trials), rule_, options_.weight_decay);
    sigma_ *= options_.shrink;
    rule_.rate *= options_.shrink;
    return {{"sigma", sigma_}, {"gradient", std::sqrt(squares)}};
  }

  void save(Checkpoint& out) const override {
    const Array<float> centre = state_->centre();
    Optimizer adam = state_->adam();
    adam.rule = rule_;
    out.put("centre", std::vector<float>(centre.begin(), centre.end()));
    out.put("adam", adam);
    out.put("sigma", sigma_);
  }
  void load(const Checkpoint& in) override {
    const auto centre = in.get<std::vector<float>>("centre");
    if (centre.size() != size_) {
      throw Error(ErrorKind::failed, "a search of " + std::to_string(size_) +
                                         " parameters was given the state of one of " + std::to_string(centre.size()));
    }
    const auto adam = in.get<Optimizer>("adam");
    state_->restore(centre, adam);
    rule_ = std::get<Adam>(adam.rule);
    sigma_ = in.get<float>("sigma");
  }

 private:
  const EvolutionStrategyOptions options_;
  const std::size_t size_;
  float sigma_;
  Adam rule_;  // its rate shrinks
  std::unique_ptr<StrategyState> state_;
};

// θ + σ ε and θ − σ ε.
class MirroredSampler final : public Sampler {
 public:
  explicit MirroredSampler(const Noise& noise) : noise_(noise) {}

  void set(const Distribution& distribution) override { distribution_ = distribution; }
  std::size_t points() const override { return 2; }
  void point(std::uint64_t index, std::size_t number, std::span<float> out) override {
    if (index != index_ || out.size() != of_index_.size()) of_index_ = noise_.at(index, out.size(), room_);
    index_ = index;
    const std::span<const float> noise = of_index_;
    const float step = number == 0 ? distribution_.sigma : -distribution_.sigma;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = distribution_.centre[i] + step * noise[i];
  }

 private:
  const Noise& noise_;
  Distribution distribution_{};
  std::uint64_t index_ = 0;
  std::span<const float> of_index_{};  // empty before the first point
  std::vector<float> room_{};
};

}  // namespace

std::vector<float> weights_of(std::span<const Trial> trials) {
  std::vector<double> values;
  for (const Trial& one : trials) values.insert(values.end(), one.values.begin(), one.values.end());
  const std::vector<float> ranks = centred_ranks(values);
  const auto share = 1 / static_cast<float>(values.size());
  std::vector<float> weights(trials.size());
  for (std::size_t pair = 0; pair < trials.size(); ++pair) {
    weights[pair] = (ranks[2 * pair] - ranks[2 * pair + 1]) * share;
  }
  return weights;
}

std::unique_ptr<StrategyState> host_state(std::vector<float> centre, const Adam& rule, const Noise& noise) {
  return std::make_unique<HostState>(std::move(centre), rule, noise);
}

SearchMethod evolution_strategy(const EvolutionStrategyOptions& options) {
  check(options);
  return {.name = "es",
          .search =
              [options](const Eigen::VectorXf& start, const Noise& noise) {
                auto state = host_state({start.begin(), start.end()}, options.adam, noise);
                return std::make_unique<EvolutionStrategy>(options, start.size(), std::move(state));
              },
          .sampler = [](const Noise& noise) { return std::make_unique<MirroredSampler>(noise); }};
}

SearchMethod evolution_strategy(const EvolutionStrategyOptions& options, const kernels::MakeQueue& make_queue) {
  check(options);
  return {.name = "es",
          .search =
              [options, make_queue](const Eigen::VectorXf& start, const Noise& noise) {
                auto state = queue_state(make_queue(), {start.begin(), start.end()}, options.adam, noise);
                return std::make_unique<EvolutionStrategy>(options, start.size(), std::move(state));
              },
          .sampler = [make_queue](const Noise& noise) { return queue_sampler(make_queue(), noise); }};
}

}  // namespace lp
