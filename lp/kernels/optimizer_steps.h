#pragma once
// The step of each optimizer for one parameter, after nodes/parameters/optimizer.h, which has the rules and names their
// papers. A step changes the parameter w by its gradient g, and its state: `first` and `second`, of those that the rule
// has. The host and devices use the same steps.
//
// Values and pure functions: any thread.

#include <cmath>

#include "lp/kernels/host_device.h"

namespace lp::kernels {

struct SgdStep {
  static constexpr bool kFirst = false;
  static constexpr bool kSecond = false;
  float rate;

  LP_HOST_DEVICE void operator()(float& w, float g, float&, float&) const { w -= rate * g; }
};

struct MomentumStep {
  static constexpr bool kFirst = true;
  static constexpr bool kSecond = false;
  float rate;
  float decay;

  LP_HOST_DEVICE void operator()(float& w, float g, float& v, float&) const {
    v = decay * v - rate * g;
    w += v;
  }
};

struct AdaGradStep {
  static constexpr bool kFirst = false;
  static constexpr bool kSecond = true;
  float rate;
  float epsilon;

  LP_HOST_DEVICE void operator()(float& w, float g, float&, float& s) const {
    s += g * g;
    w -= rate * g / (std::sqrt(s) + epsilon);
  }
};

struct AdamStep {
  static constexpr bool kFirst = true;
  static constexpr bool kSecond = true;
  float rate;
  float beta1;
  float beta2;
  float epsilon;
  float correction1;  // 1 − beta1ᵗ and 1 − beta2ᵗ in step t
  float correction2;

  LP_HOST_DEVICE void operator()(float& w, float g, float& m, float& v) const {
    m = beta1 * m + (1 - beta1) * g;
    v = beta2 * v + (1 - beta2) * g * g;
    w -= rate * (m / correction1) / (std::sqrt(v / correction2) + epsilon);
  }
};

struct FtrlStep {
  static constexpr bool kFirst = true;
  static constexpr bool kSecond = true;
  float rate;
  float beta;
  float l1;
  float l2;

  LP_HOST_DEVICE void operator()(float& w, float g, float& z, float& squares) const {
    const float before = std::sqrt(squares);
    squares += g * g;
    const float after = std::sqrt(squares);
    z += g - (after - before) / rate * w;
    w = std::abs(z) <= l1 ? 0.0F : -(z - std::copysign(l1, z)) / ((beta + after) / rate + l2);
  }
};

struct SumStep {
  static constexpr bool kFirst = false;
  static constexpr bool kSecond = false;
  float keep;

  LP_HOST_DEVICE void operator()(float& w, float g, float&, float&) const { w = keep == 0 ? g : keep * w + g; }
};

}  // namespace lp::kernels
