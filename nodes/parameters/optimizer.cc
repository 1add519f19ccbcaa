// Plain loops, built with -ffp-contract=off: the compiler may use vectors, but every element gets the same operations
// wherever it is in a shard.
#include "nodes/parameters/optimizer.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>

#include "lp/base/error.h"

namespace lp {
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
  with_step(rule, steps, [&](const auto& step) {
    using Step = std::remove_cvref_t<decltype(step)>;
    float* const w = parameters.data() + at;
    const float* const g = gradient.data();
    float* const a = Step::kFirst ? first.data() + at : nullptr;
    float* const b = Step::kSecond ? second.data() + at : nullptr;
    float none = 0;
    const std::size_t n = gradient.size();
    for (std::size_t i = 0; i < n; ++i) step(w[i], g[i], Step::kFirst ? a[i] : none, Step::kSecond ? b[i] : none);
  });
}

}  // namespace lp
