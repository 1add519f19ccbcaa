// Plain loops, built with -ffp-contract=off: the compiler may use vectors, but every element gets the same operations
// wherever in a shard it stands.
#include "nodes/optimizer.h"

#include <cmath>
#include <cstddef>
#include <string>

#include "lp/base/error.h"

namespace lp {
namespace {

void resize(std::vector<float>& state, std::size_t size, std::uint64_t steps) {
  if (steps == 0) state.assign(size, 0.0F);
  if (state.size() == size) return;
  throw Error(ErrorKind::failed, "the optimizer's state has " + std::to_string(state.size()) +
                                     " values, but there are " + std::to_string(size) +
                                     " parameters; was it saved with another model or cut?");
}

}  // namespace

void Optimizer::apply(std::span<float> parameters, std::span<const float> gradient) {
  const std::size_t n = parameters.size();
  if (gradient.size() != n) {
    throw Error(ErrorKind::failed, "a gradient of " + std::to_string(gradient.size()) + " values for " +
                                       std::to_string(n) + " parameters");
  }
  float* const w = parameters.data();
  const float* const g = gradient.data();
  if (const auto* sgd = std::get_if<Sgd>(&rule)) {
    const float rate = sgd->rate;
    for (std::size_t i = 0; i < n; ++i) w[i] -= rate * g[i];
  } else if (const auto* momentum = std::get_if<Momentum>(&rule)) {
    resize(first, n, steps);
    const auto [rate, decay] = *momentum;
    float* const v = first.data();
    for (std::size_t i = 0; i < n; ++i) {
      v[i] = decay * v[i] - rate * g[i];
      w[i] += v[i];
    }
  } else if (const auto* adagrad = std::get_if<AdaGrad>(&rule)) {
    resize(second, n, steps);
    const auto [rate, epsilon] = *adagrad;
    float* const s = second.data();
    for (std::size_t i = 0; i < n; ++i) {
      s[i] += g[i] * g[i];
      w[i] -= rate * g[i] / (std::sqrt(s[i]) + epsilon);
    }
  } else if (const auto* adam = std::get_if<Adam>(&rule)) {
    resize(first, n, steps);
    resize(second, n, steps);
    const auto [rate, beta1, beta2, epsilon] = *adam;
    const auto t = static_cast<double>(steps + 1);
    const auto correction1 = static_cast<float>(1 - std::pow(double{beta1}, t));
    const auto correction2 = static_cast<float>(1 - std::pow(double{beta2}, t));
    float* const m = first.data();
    float* const v = second.data();
    for (std::size_t i = 0; i < n; ++i) {
      m[i] = beta1 * m[i] + (1 - beta1) * g[i];
      v[i] = beta2 * v[i] + (1 - beta2) * g[i] * g[i];
      w[i] -= rate * (m[i] / correction1) / (std::sqrt(v[i] / correction2) + epsilon);
    }
  }
  ++steps;
}

}  // namespace lp
