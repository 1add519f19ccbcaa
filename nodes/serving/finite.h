#pragma once
// Whether the numbers in a value are finite: in a number, in Eigen's matrices, in arrays and vectors of them, in what
// an optional has, and in the fields of an aggregate. Other values count as finite. A pure function; any thread.

#include <algorithm>
#include <cmath>
#include <concepts>
#include <ranges>

#include "lp/base/fields.h"

namespace lp {

template <class T>
bool is_finite(const T& value) {
  if constexpr (std::floating_point<T>) {
    return std::isfinite(value);
  } else if constexpr (requires { value.allFinite(); }) {
    return value.allFinite();
  } else if constexpr (std::ranges::range<const T>) {
    if constexpr (std::integral<std::ranges::range_value_t<const T>>) return true;
    return std::ranges::all_of(value, [](const auto& one) { return is_finite(one); });
  } else if constexpr (requires { *value, value.has_value(); }) {
    return !value.has_value() || is_finite(*value);
  } else if constexpr (Reflectable<T>) {
    return apply_fields(value, [](const auto&... field) { return (is_finite(field) && ...); });
  } else {
    return true;
  }
}

}  // namespace lp
