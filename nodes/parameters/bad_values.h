#pragma once
// What happens to a gradient with NaN or infinite values: one policy for servers, for their clients, which look before
// such a value is in what compression leaves behind, and for workers without servers. Pure functions.

#include <cstdint>
#include <span>
#include <string>

namespace lp {

enum class BadValues : std::uint8_t {
  refuse,  // Error::failed, which names the worker and the place
  clip,    // in such a gradient NaN becomes 0, and every value is brought within ± 1; others stay as they are
  pass,    // nothing
};

// Whether these values must go through clip() first. Error::failed when they are refused; `whose` begins its sentence:
// "the gradient of worker 3".
bool must_clip(BadValues policy, std::span<const float> values, const std::string& whose);

void clip(std::span<float> values);

}  // namespace lp
