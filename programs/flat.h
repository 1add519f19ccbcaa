#pragma once
// Eigen's vectors as the spans that servers take. Pure functions.

#include <cstddef>
#include <span>

#include <Eigen/Core>

namespace lp {

inline std::span<const float> flat(const Eigen::VectorXf& vector) {
  return {vector.data(), static_cast<std::size_t>(vector.size())};
}
inline std::span<float> flat(Eigen::VectorXf& vector) {
  return {vector.data(), static_cast<std::size_t>(vector.size())};
}

}  // namespace lp
