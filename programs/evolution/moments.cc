#include "programs/evolution/moments.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "lp/base/error.h"

namespace lp {

void Moments::add(const Eigen::MatrixXf& observations) {
  const auto size = static_cast<std::size_t>(observations.rows());
  mean.resize(size);
  squares.resize(size);
  for (Eigen::Index column = 0; column < observations.cols(); ++column) {
    ++count;
    for (std::size_t i = 0; i < size; ++i) {
      const double value = observations(static_cast<Eigen::Index>(i), column);
      const double away = value - mean[i];
      mean[i] += away / static_cast<double>(count);
      squares[i] += away * (value - mean[i]);
    }
  }
}

void Moments::merge(const Moments& other) {
  if (other.count == 0) return;
  if (count == 0) {
    *this = other;
    return;
  }
  if (other.mean.size() != mean.size() || other.squares.size() != mean.size()) {
    throw Error(ErrorKind::failed, "observations of " + std::to_string(other.mean.size()) +
                                       " values were added to observations of " + std::to_string(mean.size()) +
                                       " values: do they belong to different environments?");
  }
  const auto n = static_cast<double>(count);
  const auto m = static_cast<double>(other.count);
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const double away = other.mean[i] - mean[i];
    mean[i] += away * (m / (n + m));
    squares[i] += other.squares[i] + away * away * (n * m / (n + m));
  }
  count += other.count;
}

void Moments::write_scale(std::span<float> out) const {
  constexpr double kLeast = 0.01;  // a value that hardly changes stays small
  const std::size_t size = out.size() / 2;
  for (std::size_t i = 0; i < size; ++i) {
    const bool known = count > 1;
    out[i] = known ? static_cast<float>(mean[i]) : 0.0F;
    const double deviation = known ? std::sqrt(squares[i] / static_cast<double>(count)) : 1.0;
    out[size + i] = static_cast<float>(1 / std::max(deviation, kLeast));
  }
}

}  // namespace lp
