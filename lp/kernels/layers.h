#pragma once
// The parts of a network's layers beside its matrix products: biases, activations, and their derivatives. Matrices are
// stored column by column, a column for each example, as in programs/models/.
//
// Values and pure functions: any thread.

#include <cmath>
#include <cstdint>

#include "lp/kernels/host_device.h"

namespace lp::kernels {

struct Identity {
  LP_HOST_DEVICE float value(float sum) const { return sum; }
  LP_HOST_DEVICE float slope(float) const { return 1; }
};

struct Relu {
  LP_HOST_DEVICE float value(float sum) const { return sum < 0 ? 0.0F : sum; }
  LP_HOST_DEVICE float slope(float value) const { return value > 0 ? 1.0F : 0.0F; }
};

struct Tanh {
  LP_HOST_DEVICE float value(float sum) const { return std::tanh(sum); }
  LP_HOST_DEVICE float slope(float value) const { return 1.0F - value * value; }
};

// Adds the biases to the sums, and applies the activation.
template <class Activation>
struct Activate {
  const float* biases;
  std::uint64_t outputs;
  float* sums;  // outputs × examples
  std::uint64_t examples;

  LP_HOST_DEVICE std::uint64_t indices() const { return outputs * examples; }
  LP_HOST_DEVICE void operator()(std::uint64_t i) const { sums[i] = Activation().value(sums[i] + biases[i % outputs]); }
};

// Multiplies errors by the slope of the activation, which is a function of its values.
template <class Activation>
struct MultiplyBySlope {
  const float* values;
  float* errors;
  std::uint64_t size;

  LP_HOST_DEVICE std::uint64_t indices() const { return size; }
  LP_HOST_DEVICE void operator()(std::uint64_t i) const { errors[i] *= Activation().slope(values[i]); }
};

}  // namespace lp::kernels
