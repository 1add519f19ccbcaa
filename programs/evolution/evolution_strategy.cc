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

namespace lp {
namespace {

void check(const EvolutionStrategyOptions& options) {
  const auto need = [](bool fits, const std::string& what) {
    if (!fits) throw Error(ErrorKind::failed, "an evolution strategy needs " + what);
  };
  need(options.pairs > 0, "at least 1 pair");
  need(options.sigma > 0 && std::isfinite(options.sigma), "a sigma above 0");
  need(options.adam.rate > 0 && std::isfinite(options.adam.rate), "a rate above 0");
  need(options.weight_decay >= 0 && std::isfinite(options.weight_decay), "a weight decay of 0 or more");
  need(options.shrink > 0 && options.shrink <= 1, "a shrink above 0, up to 1");
}

class EvolutionStrategy final : public Search {
 public:
  EvolutionStrategy(const EvolutionStrategyOptions& options, const Eigen::VectorXf& start, const Noise& noise)
      : options_(options),
        noise_(noise),
        sigma_(options.sigma),
        centre_(start.begin(), start.end()),
        gradient_(centre_.size()),
        adam_{.rule = options.adam} {}

  std::size_t trials() const override { return options_.pairs; }
  Distribution distribution() const override { return {.centre = Array<float>::copy_of(centre_), .sigma = sigma_}; }

  MetricValues tell(std::span<const Trial> trials) override {
    set_gradient(trials);
    double squares = 0;
    for (std::size_t i = 0; i < centre_.size(); ++i) {
      gradient_[i] = options_.weight_decay * centre_[i] - gradient_[i];
      squares += double{gradient_[i]} * double{gradient_[i]};
    }
    adam_.apply(centre_, gradient_);
    sigma_ *= options_.shrink;
    std::get<Adam>(adam_.rule).rate *= options_.shrink;
    return {{"sigma", sigma_}, {"gradient", std::sqrt(squares)}};
  }

  void save(Checkpoint& out) const override {
    out.put("centre", centre_);
    out.put("adam", adam_);
    out.put("sigma", sigma_);
  }
  void load(const Checkpoint& in) override {
    auto centre = in.get<std::vector<float>>("centre");
    if (centre.size() != centre_.size()) {
      throw Error(ErrorKind::failed, "a search of " + std::to_string(centre_.size()) +
                                         " parameters was given the state of one of " + std::to_string(centre.size()));
    }
    centre_ = std::move(centre);
    adam_ = in.get<Optimizer>("adam");
    sigma_ = in.get<float>("sigma");
  }

 private:
  // Σ (r⁺ − r⁻) ε / 2n, in the order of the trials.
  void set_gradient(std::span<const Trial> trials) {
    std::vector<double> values;
    for (const Trial& one : trials) values.insert(values.end(), one.values.begin(), one.values.end());
    const std::vector<float> ranks = centred_ranks(values);
    gradient_.assign(gradient_.size(), 0);
    const auto share = 1 / static_cast<float>(values.size());
    for (std::size_t pair = 0; pair < trials.size(); ++pair) {
      const float weight = (ranks[2 * pair] - ranks[2 * pair + 1]) * share;
      if (weight == 0) continue;
      const std::span<const float> noise = noise_.at(trials[pair].index, gradient_.size(), room_);
      for (std::size_t i = 0; i < noise.size(); ++i) gradient_[i] += weight * noise[i];
    }
  }

  const EvolutionStrategyOptions options_;
  const Noise& noise_;
  float sigma_;
  std::vector<float> centre_;
  std::vector<float> gradient_;
  Optimizer adam_;
  std::vector<float> room_{};
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

SearchMethod evolution_strategy(const EvolutionStrategyOptions& options) {
  check(options);
  return {
      .name = "es",
      .search = [options](const Eigen::VectorXf& start,
                          const Noise& noise) { return std::make_unique<EvolutionStrategy>(options, start, noise); },
      .sampler = [](const Noise& noise) { return std::make_unique<MirroredSampler>(noise); }};
}

}  // namespace lp
