// Plain loops, built with -ffp-contract=off: the compiler may use vectors, but every element gets the same operations
// wherever it is in a shard.
#include "nodes/parameters/optimizer.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "lp/base/error.h"

namespace lp {
namespace {

constexpr bool has_first(const OptimizerRule& rule) {
  return std::holds_alternative<Momentum>(rule) || std::holds_alternative<Adam>(rule) ||
         std::holds_alternative<Ftrl>(rule);
}
constexpr bool has_second(const OptimizerRule& rule) {
  return std::holds_alternative<AdaGrad>(rule) || std::holds_alternative<Adam>(rule) ||
         std::holds_alternative<Ftrl>(rule);
}

}  // namespace

void Optimizer::apply(std::span<float> parameters, std::span<const float> gradient) {
  const std::size_t n = parameters.size();
  if (gradient.size() != n) {
    throw Error(ErrorKind::failed, "a gradient has " + std::to_string(gradient.size()) + " values for " +
                                       std::to_string(n) + " parameters");
  }
  const std::size_t state = std::max(first.size(), second.size());
  if (steps != 0 && (has_first(rule) || has_second(rule)) && state != n) {
    throw Error(ErrorKind::failed, "the optimizer's state has " + std::to_string(state) + " values, but there are " +
                                       std::to_string(n) +
                                       " parameters; was it saved with another model, or from another checkpoint?");
  }
  begin_step(n);
  apply_part(parameters, 0, gradient);
}

void Optimizer::begin_step(std::size_t parameters) {
  if (has_first(rule)) first.resize(parameters);
  if (has_second(rule)) second.resize(parameters);
  ++steps;
}

void Optimizer::apply_part(std::span<float> parameters, std::size_t at, std::span<const float> gradient) {
  const std::size_t n = gradient.size();
  float* const w = parameters.data() + at;
  const float* const g = gradient.data();
  if (const auto* sgd = std::get_if<Sgd>(&rule)) {
    const float rate = sgd->rate;
    for (std::size_t i = 0; i < n; ++i) w[i] -= rate * g[i];
  } else if (const auto* momentum = std::get_if<Momentum>(&rule)) {
    const auto [rate, decay] = *momentum;
    float* const v = first.data() + at;
    for (std::size_t i = 0; i < n; ++i) {
      v[i] = decay * v[i] - rate * g[i];
      w[i] += v[i];
    }
  } else if (const auto* adagrad = std::get_if<AdaGrad>(&rule)) {
    const auto [rate, epsilon] = *adagrad;
    float* const s = second.data() + at;
    for (std::size_t i = 0; i < n; ++i) {
      s[i] += g[i] * g[i];
      w[i] -= rate * g[i] / (std::sqrt(s[i]) + epsilon);
    }
  } else if (const auto* adam = std::get_if<Adam>(&rule)) {
    const auto [rate, beta1, beta2, epsilon] = *adam;
    const auto t = static_cast<double>(steps);
    const auto correction1 = static_cast<float>(1 - std::pow(double{beta1}, t));
    const auto correction2 = static_cast<float>(1 - std::pow(double{beta2}, t));
    float* const m = first.data() + at;
    float* const v = second.data() + at;
    for (std::size_t i = 0; i < n; ++i) {
      m[i] = beta1 * m[i] + (1 - beta1) * g[i];
      v[i] = beta2 * v[i] + (1 - beta2) * g[i] * g[i];
      w[i] -= rate * (m[i] / correction1) / (std::sqrt(v[i] / correction2) + epsilon);
    }
  } else if (const auto* ftrl = std::get_if<Ftrl>(&rule)) {
    const auto [rate, beta, l1, l2] = *ftrl;
    float* const z = first.data() + at;
    float* const squares = second.data() + at;
    for (std::size_t i = 0; i < n; ++i) {
      const float before = std::sqrt(squares[i]);
      squares[i] += g[i] * g[i];
      const float after = std::sqrt(squares[i]);
      z[i] += g[i] - (after - before) / rate * w[i];
      w[i] = std::abs(z[i]) <= l1 ? 0.0F : -(z[i] - std::copysign(l1, z[i])) / ((beta + after) / rate + l2);
    }
  } else if (const auto* sum = std::get_if<Sum>(&rule)) {
    const float keep = sum->keep;
    if (keep == 0) {
      for (std::size_t i = 0; i < n; ++i) w[i] = g[i];
    } else {
      for (std::size_t i = 0; i < n; ++i) w[i] = keep * w[i] + g[i];
    }
  }
}

}  // namespace lp
