#pragma once
// The residual of error feedback (nodes/parameters/gradient_encoding.h): the gradient is added to it, clipped, before
// it is encoded.
//
// Values and pure functions: any thread.

#include <cstdint>

#include "lp/kernels/host_device.h"

namespace lp::kernels {

// Brings a value within ± clip; 0 does not clip. NaN stays.
LP_HOST_DEVICE inline float clipped(float value, float clip) {
  if (!(clip > 0)) return value;
  return value < -clip ? -clip : clip < value ? clip : value;
}

struct AddClipped {
  const float* values;
  float clip;
  float* residual;
  std::uint64_t size;

  LP_HOST_DEVICE std::uint64_t indices() const { return size; }
  LP_HOST_DEVICE void operator()(std::uint64_t i) const { residual[i] += clipped(values[i], clip); }
};

}  // namespace lp::kernels
