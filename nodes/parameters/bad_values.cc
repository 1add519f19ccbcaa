#include "nodes/parameters/bad_values.h"

#include <algorithm>
#include <cmath>

#include "lp/base/error.h"

namespace lp {
namespace {

constexpr float kMost = 1;  // the largest magnitude of a clipped value

// Has no branch for each value: gradients are large, and nearly all are finite.
bool all_finite(std::span<const float> values) {
  bool finite = true;
  for (const float value : values) finite &= std::isfinite(value);
  return finite;
}

}  // namespace

bool must_clip(BadValues policy, std::span<const float> values, const std::string& whose) {
  if (policy == BadValues::pass || all_finite(values)) return false;
  if (policy == BadValues::clip) return true;
  const auto bad = std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
  throw Error(ErrorKind::failed, whose + " is not finite: it is " + std::to_string(*bad) + " at element " +
                                     std::to_string(bad - values.begin()) + "; a lower learning rate may help");
}

void clip(std::span<float> values) {
  for (float& value : values) value = std::isnan(value) ? 0.0F : std::clamp(value, -kMost, kMost);
}

}  // namespace lp
