// Evolution in kernels, with noise that is made there or read from a table that was brought there once.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

#include "programs/evolution/strategy_state.h"

namespace lp {
namespace {

using kernels::Queue;
using kernels::Room;

// The noise where kernels read it.
class QueueNoise {
 public:
  QueueNoise(Queue& queue, const Noise& noise) : key_(noise.source().key), table_(queue, noise.source().table) {}

  // Calls f with the numbers of lp/kernels/normal.h.
  template <class F>
  void with_numbers(F f) const {
    if (table_.size() == 0) {
      f(kernels::CounterNumbers{key_});
    } else {
      f(kernels::TableNumbers{table_.data()});
    }
  }

 private:
  std::uint64_t key_;
  Room<float> table_;
};

class QueueState final : public StrategyState {
 public:
  QueueState(std::unique_ptr<Queue> queue, const std::vector<float>& centre, const Adam& rule, const Noise& noise)
      : queue_(std::move(queue)),
        noise_(*queue_, noise),
        rule_(rule),
        centre_(*queue_, centre),
        gradient_(*queue_, centre.size()),
        first_(*queue_, centre.size()),
        second_(*queue_, centre.size()) {}

  double descend(std::span<const Trial> trials, std::span<const float> weights, const Adam& rule,
                 float decay) override {
    std::vector<std::uint64_t> indices;
    indices.reserve(trials.size());
    for (const Trial& trial : trials) indices.push_back(trial.index);
    const Room<std::uint64_t> of_trials(*queue_, indices);
    const Room<float> of_weights(*queue_, weights);
    const std::size_t size = centre_.size();
    noise_.with_numbers([&]<class Numbers>(const Numbers& numbers) {
      queue_->run(kernels::SearchGradient<Numbers>{.numbers = numbers,
                                                   .trials = of_trials.data(),
                                                   .weights = of_weights.data(),
                                                   .count = indices.size(),
                                                   .centre = centre_.data(),
                                                   .decay = decay,
                                                   .to = gradient_.data(),
                                                   .size = size});
    });
    rule_ = rule;
    ++steps_;
    with_step(rule_, steps_, [&]<class Step>(const Step& step) {
      kernels::GradientSum sum{.count = 1};
      sum.terms[0].values = gradient_.data();
      queue_->run(kernels::Update<Step>{.step = step,
                                        .sum = sum,
                                        .parameters = centre_.data(),
                                        .first = first_.data(),
                                        .second = second_.data(),
                                        .size = size});
    });
    double squares = 0;
    for (const float value : read(gradient_)) squares += double{value} * double{value};
    return squares;
  }

  Array<float> centre() const override { return Array<float>::copy_of(read(centre_)); }
  Optimizer adam() const override {
    Optimizer out{.rule = rule_, .steps = steps_};
    if (steps_ != 0) out.first = read(first_);
    if (steps_ != 0) out.second = read(second_);
    return out;
  }
  void restore(std::span<const float> centre, const Optimizer& adam) override {
    const auto set = [&](Room<float>& room, std::vector<float> values) {
      values.resize(centre_.size());
      room.write(values);
    };
    set(centre_, {centre.begin(), centre.end()});
    set(first_, adam.first);
    set(second_, adam.second);
    rule_ = adam.rule;
    steps_ = adam.steps;
  }

 private:
  std::vector<float> read(const Room<float>& room) const {
    std::vector<float> out(room.size());
    room.read(out);
    queue_->wait();
    return out;
  }

  std::unique_ptr<Queue> queue_;
  QueueNoise noise_;
  OptimizerRule rule_;
  std::uint64_t steps_ = 0;
  Room<float> centre_;
  Room<float> gradient_;
  Room<float> first_;
  Room<float> second_;
};

class QueueSampler final : public Sampler {
 public:
  QueueSampler(std::unique_ptr<Queue> queue, const Noise& noise) : queue_(std::move(queue)), noise_(*queue_, noise) {}

  void set(const Distribution& distribution) override {
    sigma_ = distribution.sigma;
    if (centre_.size() != distribution.centre.size()) {
      centre_ = Room<float>(*queue_, distribution.centre.size());
      point_ = Room<float>(*queue_, distribution.centre.size());
    }
    centre_.write(distribution.centre.span());
  }
  std::size_t points() const override { return 2; }
  void point(std::uint64_t index, std::size_t number, std::span<float> out) override {
    noise_.with_numbers([&]<class Numbers>(const Numbers& numbers) {
      queue_->run(kernels::Perturb<Numbers>{.numbers = numbers,
                                            .index = index,
                                            .centre = centre_.data(),
                                            .step = number == 0 ? sigma_ : -sigma_,
                                            .to = point_.data(),
                                            .size = out.size()});
    });
    point_.read(out);
    queue_->wait();
  }

 private:
  std::unique_ptr<Queue> queue_;
  QueueNoise noise_;
  float sigma_ = 0;
  Room<float> centre_{};
  Room<float> point_{};
};

}  // namespace

std::unique_ptr<StrategyState> queue_state(std::unique_ptr<Queue> queue, const std::vector<float>& centre,
                                           const Adam& rule, const Noise& noise) {
  return std::make_unique<QueueState>(std::move(queue), centre, rule, noise);
}

std::unique_ptr<Sampler> queue_sampler(std::unique_ptr<Queue> queue, const Noise& noise) {
  return std::make_unique<QueueSampler>(std::move(queue), noise);
}

}  // namespace lp
