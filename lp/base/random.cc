// Built with -ffp-contract=off: a fused multiply-add would change the last bit of normal().
#include "lp/base/random.h"

#include <cmath>
#include <numbers>

#include "lp/base/error.h"
#include "lp/base/hash.h"

namespace lp {
namespace internal {

// x = m 2^e with m in [√½, √2); log m = 2 artanh f with f = (m - 1) / (m + 1), |f| < 0.172: 11 terms reach the last
// bit.
double portable_log(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0.5 * std::numbers::sqrt2) {
    m *= 2;
    --exponent;
  }
  const double f = (m - 1) / (m + 1);
  const double square = f * f;
  double series = 0;
  for (int k = 21; k >= 1; k -= 2) series = series * square + 1.0 / k;
  return exponent * std::numbers::ln2 + 2 * f * series;
}

}  // namespace internal

Random::Random(std::uint64_t seed, std::string_view name, std::uint64_t step) : step_(step) {
  // FNV-1a gives names that differ in their last letter similar hashes; mix64 does not.
  const std::uint64_t key = mix64(fnv1a(name)) ^ seed;
  key_ = {internal::low_half(key), internal::high_half(key)};
}

void Random::refill() {
  using internal::high_half;
  using internal::low_half;
  const std::array<std::uint32_t, 4> words =
      internal::philox({low_half(next_), high_half(next_), low_half(step_), high_half(step_)}, key_);
  block_ = {words[0] | std::uint64_t{words[1]} << 32, words[2] | std::uint64_t{words[3]} << 32};
  used_ = 0;
  ++next_;
}

std::uint64_t Random::below(std::uint64_t bound) {
  if (bound == 0) throw Error(ErrorKind::failed, "Random::below(0): no number is below 0; is a collection empty?");
  // Without the first 2^64 mod bound of them, the 2^64 numbers are a multiple of bound.
  const std::uint64_t rejected = (0 - bound) % bound;
  std::uint64_t x = (*this)();
  while (x < rejected) x = (*this)();
  return x % bound;
}

double Random::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  double x = 0;
  double y = 0;
  double square = 0;
  do {
    x = 2 * uniform() - 1;
    y = 2 * uniform() - 1;
    square = x * x + y * y;
  } while (square >= 1 || square == 0);
  const double scale = std::sqrt(-2 * internal::portable_log(square) / square);
  spare_ = y * scale;
  has_spare_ = true;
  return x * scale;
}

}  // namespace lp
