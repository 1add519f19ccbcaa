#pragma once
// An update of parameters: the weighted sum of gradients, clipping, and the step of an optimizer, in one kernel that
// reads and writes each value once. The sum is made in the order of the terms, as
// nodes/parameters/sum_in_worker_order.h does.
//
// Values: any thread.

#include <cstdint>

#include "lp/kernels/finite.h"
#include "lp/kernels/float4.h"
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

  LP_HOST_DEVICE Float4 at(std::uint64_t index, unsigned floats) const {
    Float4 sum = before == nullptr ? Float4{} : load_float4(before + 4 * index, floats);
    for (std::uint32_t k = 0; k < count; ++k) {
      const GradientTerm& term = terms[k];
      const Float4 values = load_float4(term.values + 4 * index, floats);
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

  LP_HOST_DEVICE std::uint64_t indices() const { return float4s(size); }
  LP_HOST_DEVICE void operator()(std::uint64_t index) const {
    const unsigned floats = floats_in(index, size);
    store_float4(sum.at(index, floats), to + 4 * index, floats);
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

  LP_HOST_DEVICE std::uint64_t indices() const { return float4s(size); }
  LP_HOST_DEVICE void operator()(std::uint64_t index) const {
    const unsigned floats = floats_in(index, size);
    const std::uint64_t begin = 4 * index;
    const Float4 g = sum.at(index, floats);
    Float4 w = load_float4(parameters + begin, floats);
    Float4 f{};
    Float4 s{};
    if constexpr (Step::kFirst) f = load_float4(first + begin, floats);
    if constexpr (Step::kSecond) s = load_float4(second + begin, floats);
    for (unsigned i = 0; i < 4; ++i) step(w.at[i], g.at[i], f.at[i], s.at[i]);
    store_float4(w, parameters + begin, floats);
    if constexpr (Step::kFirst) store_float4(f, first + begin, floats);
    if constexpr (Step::kSecond) store_float4(s, second + begin, floats);
  }
};

}  // namespace lp::kernels
