#pragma once
// An update of parameters: the weighted sum of gradients, clipping, and the step of an optimizer, in one kernel that
// reads and writes each value once. The sum is made in the order of the terms, as nodes/parameters/gradient_sum.h does.
//
// Values: any thread.

#include <cstdint>

#include "lp/kernels/finite.h"
#include "lp/kernels/four.h"
#include "lp/kernels/host_device.h"

namespace lp::kernels {

// A gradient in a sum.
struct GradientTerm {
  const float* values = nullptr;
  float weight = 1;
  const std::uint64_t* bad = nullptr;  // from FindBad: clips, unless it is kAllFinite. Null: nobody has looked
};

// The sum of up to kMost terms, added to `before`, divided by `divisor`. Longer sums are made by several SumGradients.
struct GradientSum {
  static constexpr std::uint32_t kMost = 16;

  GradientTerm terms[kMost] = {};
  std::uint32_t count = 0;
  const float* before = nullptr;  // null: the sum begins here
  float divisor = 0;              // 0: does not divide

  LP_HOST_DEVICE Four at(std::uint64_t four, unsigned floats) const {
    Four sum = before == nullptr ? Four{} : load_four(before + 4 * four, floats);
    for (std::uint32_t k = 0; k < count; ++k) {
      const GradientTerm& term = terms[k];
      const Four values = load_four(term.values + 4 * four, floats);
      const bool clips = term.bad != nullptr && *term.bad != kAllFinite;
      for (unsigned i = 0; i < 4; ++i) {
        const float value = term.weight * (clips ? clipped_to_one(values.at[i]) : values.at[i]);
        sum.at[i] = k == 0 && before == nullptr ? value : sum.at[i] + value;
      }
    }
    for (unsigned i = 0; i < 4 && divisor != 0; ++i) sum.at[i] /= divisor;
    return sum;
  }
};

// Writes a sum of gradients.
struct SumGradients {
  GradientSum sum;
  float* to;
  std::uint64_t size;

  LP_HOST_DEVICE std::uint64_t indices() const { return fours(size); }
  LP_HOST_DEVICE void operator()(std::uint64_t four) const {
    const unsigned floats = floats_in(four, size);
    store_four(sum.at(four, floats), to + 4 * four, floats);
  }
};

// Applies a sum of gradients to parameters.
template <class Step>
struct Update {
  Step step;
  GradientSum sum;
  float* parameters;
  float* first;  // the state of the optimizer; null where its rule has none
  float* second;
  std::uint64_t size;

  LP_HOST_DEVICE std::uint64_t indices() const { return fours(size); }
  LP_HOST_DEVICE void operator()(std::uint64_t four) const {
    const unsigned floats = floats_in(four, size);
    const std::uint64_t begin = 4 * four;
    const Four g = sum.at(four, floats);
    Four w = load_four(parameters + begin, floats);
    Four f{};
    Four s{};
    if constexpr (Step::kFirst) f = load_four(first + begin, floats);
    if constexpr (Step::kSecond) s = load_four(second + begin, floats);
    for (unsigned i = 0; i < 4; ++i) step(w.at[i], g.at[i], f.at[i], s.at[i]);
    store_four(w, parameters + begin, floats);
    if constexpr (Step::kFirst) store_four(f, first + begin, floats);
    if constexpr (Step::kSecond) store_four(s, second + begin, floats);
  }
};

}  // namespace lp::kernels
