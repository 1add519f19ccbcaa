#include "nodes/replay/rate_limiter.h"

#include <algorithm>
#include <cmath>

#include "lp/base/error.h"

namespace lp::replay {

RateLimits min_size(std::uint64_t items) { return {.min_size = items}; }

RateLimits sample_to_insert(double ratio, std::uint64_t items, double buffer) {
  if (!(ratio > 0) || !(buffer >= std::max(1.0, ratio))) {
    throw Error(ErrorKind::failed, "sample_to_insert has the ratio " + std::to_string(ratio) + " and the buffer " +
                                       std::to_string(buffer) +
                                       ": give a ratio above 0 and a buffer of at least 1 and of at least the ratio; "
                                       "otherwise inserts and samples could wait for one another for ever");
  }
  const double middle = ratio * static_cast<double>(items);
  return {.samples_per_insert = ratio,
          .min_size = items,
          .min_difference = middle - buffer,
          .max_difference = middle + buffer};
}

RateLimits queue_of(std::uint64_t items) {
  return {.samples_per_insert = 1, .min_size = 1, .min_difference = 0, .max_difference = static_cast<double>(items)};
}

RateLimiter::RateLimiter(const RateLimits& limits) : limits_(limits) {
  if (limits.min_size > 0 && limits.samples_per_insert > 0 && std::isfinite(limits.samples_per_insert) &&
      limits.min_difference < limits.max_difference) {
    return;
  }
  throw Error(ErrorKind::failed,
              "a rate limiter needs a min_size of at least 1, samples_per_insert above 0, and a min_difference below "
              "the max_difference");
}

bool RateLimiter::can_sample(std::uint64_t count) const {
  if (counts_.inserts - counts_.removals < limits_.min_size) return false;
  const double after = static_cast<double>(counts_.inserts) * limits_.samples_per_insert -
                       static_cast<double>(counts_.samples) - static_cast<double>(count);
  return after >= limits_.min_difference;
}

bool RateLimiter::can_insert(std::uint64_t count) const {
  if (counts_.inserts + count - counts_.removals <= limits_.min_size) return true;
  const double after =
      static_cast<double>(counts_.inserts + count) * limits_.samples_per_insert - static_cast<double>(counts_.samples);
  return after <= limits_.max_difference;
}

double RateLimiter::most_samples(std::uint64_t inserts) const {
  if (inserts < limits_.min_size) return 0;
  return static_cast<double>(inserts) * limits_.samples_per_insert - std::min(limits_.min_difference, 0.0);
}

std::string RateLimiter::text() const {
  return std::to_string(counts_.inserts - counts_.removals) + " items of at least " + std::to_string(limits_.min_size) +
         ", " + std::to_string(counts_.inserts) + " inserts, " + std::to_string(counts_.samples) + " samples";
}

}  // namespace lp::replay
