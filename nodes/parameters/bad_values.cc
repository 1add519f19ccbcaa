#include "nodes/parameters/bad_values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "lp/base/error.h"
#include "lp/kernels/finite.h"

namespace lp {
namespace {

constexpr std::uint32_t kMagnitude = 0x7fff'ffff;  // the bits of a float without its sign
constexpr std::uint32_t kCarry = 0x0080'0000;      // with it, only infinities and NaN set the sign's bit
static_assert(std::numeric_limits<float>::is_iec559);

}  // namespace

// Computes with integers, because a compiler makes vectors of that loop: gradients are large, and nearly all are
// finite.
bool all_finite(std::span<const float> values) {
  std::uint32_t bits = 0;
  for (const float value : values) bits |= (std::bit_cast<std::uint32_t>(value) & kMagnitude) + kCarry;
  return (bits & ~kMagnitude) == 0;
}

bool must_clip(BadValues policy, std::span<const float> values, const std::string& whose) {
  if (policy == BadValues::pass || all_finite(values)) return false;
  if (policy == BadValues::clip) return true;
  const auto bad = std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
  throw Unrecoverable(whose + " is not finite: it is " + std::to_string(*bad) + " at element " +
                      std::to_string(bad - values.begin()) + "; a lower learning rate may help");
}

void clip(std::span<float> values) {
  for (float& value : values) value = kernels::clipped_to_one(value);
}

}  // namespace lp
