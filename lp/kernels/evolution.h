#pragma once
// The work of an evolution strategy (programs/evolution/evolution_strategy.h) for each parameter: a point of a trial,
// and the gradient of a generation. Numbers is CounterNumbers or TableNumbers, so noise is made in the kernel, or read
// in place.
//
// Values: any thread.

#include <cstdint>

#include "lp/kernels/host_device.h"
#include "lp/kernels/normal.h"

namespace lp::kernels {

// Writes normal numbers, for instance a table of them.
struct NormalNumbers {
  CounterNumbers numbers;
  std::uint64_t index;
  float* to;
  std::uint64_t size;

  LP_HOST_DEVICE std::uint64_t indices() const { return eights(size); }
  LP_HOST_DEVICE void operator()(std::uint64_t eight) const {
    const Eight noise = numbers.at(index, eight, size);
    for (unsigned i = 0; i < 8; ++i) {
      const std::uint64_t position = position_in_stream(eight, i);
      if (position < size) to[position] = noise.at[i];
    }
  }
};

// centre + step · ε
template <class Numbers>
struct Perturb {
  Numbers numbers;
  std::uint64_t index;
  const float* centre;
  float step;
  float* to;
  std::uint64_t size;

  LP_HOST_DEVICE std::uint64_t indices() const { return eights(size); }
  LP_HOST_DEVICE void operator()(std::uint64_t eight) const {
    const Eight noise = numbers.at(index, eight, size);
    for (unsigned i = 0; i < 8; ++i) {
      const std::uint64_t position = position_in_stream(eight, i);
      if (position < size) to[position] = centre[position] + step * noise.at[i];
    }
  }
};

// decay · centre − Σ weight · ε over the trials, in their order. A trial without weight is left out.
template <class Numbers>
struct SearchGradient {
  Numbers numbers;
  const std::uint64_t* trials;  // their indices
  const float* weights;
  std::uint64_t count;
  const float* centre;
  float decay;
  float* to;
  std::uint64_t size;

  LP_HOST_DEVICE std::uint64_t indices() const { return eights(size); }
  LP_HOST_DEVICE void operator()(std::uint64_t eight) const {
    Eight sum{};
    for (std::uint64_t trial = 0; trial < count; ++trial) {
      const float weight = weights[trial];
      if (weight == 0) continue;
      const Eight noise = numbers.at(trials[trial], eight, size);
      for (unsigned i = 0; i < 8; ++i) sum.at[i] += weight * noise.at[i];
    }
    for (unsigned i = 0; i < 8; ++i) {
      const std::uint64_t position = position_in_stream(eight, i);
      if (position < size) to[position] = decay * centre[position] - sum.at[i];
    }
  }
};

}  // namespace lp::kernels
