#pragma once
// Optimizers of a server: rules that change each parameter by its own gradient and its own state alone. So a shard's
// parameters have the same bits, however the tensor is partitioned.
//
// Values: they copy, serialize, and are stored in checkpoints. One thread at a time.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "lp/kernels/optimizer_steps.h"

namespace lp {

// w ← w − rate · g
struct Sgd {
  float rate = 0.1F;
};

// v ← decay · v − rate · g;  w ← w + v
// Polyak, USSR Comp. Math. 4(5), 1964, in the form of Sutskever et al., ICML 2013, equations 1 and 2.
struct Momentum {
  float rate = 0.1F;
  float decay = 0.9F;
};

// s ← s + g²;  w ← w − rate · g / (√s + epsilon)
// Duchi, Hazan and Singer, JMLR 12, 2011, the diagonal form of figure 1 without its regularizer.
struct AdaGrad {
  float rate = 0.01F;
  float epsilon = 1e-8F;
};

// m ← beta1 · m + (1 − beta1) · g;  v ← beta2 · v + (1 − beta2) · g²
// w ← w − rate · m̂ / (√v̂ + epsilon) with m̂ = m / (1 − beta1ᵗ), v̂ = v / (1 − beta2ᵗ) in step t = 1, 2, ...
// Kingma and Ba, ICLR 2015, algorithm 1. For a sparse tensor, t counts all steps, also those without the key.
struct Adam {
  float rate = 0.001F;
  float beta1 = 0.9F;
  float beta2 = 0.999F;
  float epsilon = 1e-8F;
};

// σ = (√(n + g²) − √n) / rate;  z ← z + g − σ w;  n ← n + g²
// w ← 0 where |z| ≤ l1, else −(z − sign(z) l1) / ((beta + √n) / rate + l2)
// McMahan et al., "Ad click prediction: a view from the trenches", KDD 2013, algorithm 1.
struct Ftrl {
  float rate = 0.1F;
  float beta = 1;
  float l1 = 0;
  float l2 = 0;
};

// w ← keep · w + g: for workers that push changes (keep 1), or need only the sum of a round (keep 0).
struct Sum {
  float keep = 1;
};

using OptimizerRule = std::variant<Sgd, Momentum, AdaGrad, Adam, Ftrl, Sum>;

// Whether the rule keeps state in Optimizer::first and Optimizer::second.
constexpr bool has_first(const OptimizerRule& rule) {
  return std::holds_alternative<Momentum>(rule) || std::holds_alternative<Adam>(rule) ||
         std::holds_alternative<Ftrl>(rule);
}
constexpr bool has_second(const OptimizerRule& rule) {
  return std::holds_alternative<AdaGrad>(rule) || std::holds_alternative<Adam>(rule) ||
         std::holds_alternative<Ftrl>(rule);
}

// A rule and the state of the parameters that it is applied to. A restart needs all of it to go on.
struct Optimizer {
  OptimizerRule rule = Sgd{};
  std::uint64_t steps = 0;      // gradients applied
  std::vector<float> first{};   // Momentum: v. Adam: m. Ftrl: z. Empty before the first step, and for other rules.
  std::vector<float> second{};  // AdaGrad: s. Adam: v. Ftrl: n. Empty likewise.

  // Applies `gradient` (of the mean loss, same size) to `parameters`. Error::failed when the sizes differ from each
  // other or from those of the steps before.
  void apply(std::span<float> parameters, std::span<const float> gradient);

  // The same in parts, for gradients that lack some parameters. begin_step sets the number of parameters, never fewer
  // than before; new ones begin without state. apply_part changes parameters[at .. at + gradient.size()).
  void begin_step(std::size_t parameters);
  void apply_part(std::span<float> parameters, std::size_t at, std::span<const float> gradient);
};

// Calls f with the step (lp/kernels/optimizer_steps.h) of a rule for gradient number `steps`, counted from 1.
template <class F>
void with_step(const OptimizerRule& rule, std::uint64_t steps, F f) {
  if (const auto* sgd = std::get_if<Sgd>(&rule)) {
    f(kernels::SgdStep{.rate = sgd->rate});
  } else if (const auto* momentum = std::get_if<Momentum>(&rule)) {
    f(kernels::MomentumStep{.rate = momentum->rate, .decay = momentum->decay});
  } else if (const auto* adagrad = std::get_if<AdaGrad>(&rule)) {
    f(kernels::AdaGradStep{.rate = adagrad->rate, .epsilon = adagrad->epsilon});
  } else if (const auto* adam = std::get_if<Adam>(&rule)) {
    const auto t = static_cast<double>(steps);
    f(kernels::AdamStep{.rate = adam->rate,
                        .beta1 = adam->beta1,
                        .beta2 = adam->beta2,
                        .epsilon = adam->epsilon,
                        .correction1 = static_cast<float>(1 - std::pow(double{adam->beta1}, t)),
                        .correction2 = static_cast<float>(1 - std::pow(double{adam->beta2}, t))});
  } else if (const auto* ftrl = std::get_if<Ftrl>(&rule)) {
    f(kernels::FtrlStep{.rate = ftrl->rate, .beta = ftrl->beta, .l1 = ftrl->l1, .l2 = ftrl->l2});
  } else if (const auto* sum = std::get_if<Sum>(&rule)) {
    f(kernels::SumStep{.keep = sum->keep});
  }
}

}  // namespace lp
