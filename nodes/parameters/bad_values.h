#pragma once
// The policy for gradients with NaN or infinite values. Servers use it, their clients, which check before compression
// keeps such a value in its residual, and workers without servers. Pure functions.

#include <cstdint>
#include <span>
#include <string>

#include "nodes/parameters/unrecoverable.h"

namespace lp {

enum class BadValues : std::uint8_t {
  refuse,  // Error::failed, which names the worker and the place
  clip,    // in such a gradient, NaN becomes 0 and every value is brought within ± 1; other gradients stay as they are
  pass,    // no check
};

bool all_finite(std::span<const float> values);

// Returns whether clip() must be applied to these values. Unrecoverable when the policy refuses them; its text begins
// with `whose`, as in "the gradient of worker 3".
bool must_clip(BadValues policy, std::span<const float> values, const std::string& whose);

void clip(std::span<float> values);

}  // namespace lp
