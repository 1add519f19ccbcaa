#pragma once
// Keeps the inserts into a table and the samples from it in proportion: a sample waits while too few items were
// inserted for it, and an insert waits while too few samples were taken. The counters and conditions are those of
// Reverb (Cassirer et al., "Reverb: a framework for experience replay", 2021, section 3.3).
//
// RateLimits are values. A RateLimiter is owned by a table, under its lock.

#include <cstdint>
#include <limits>
#include <string>

namespace lp::replay {

// With I inserts, S samples and D removals so far:
//   a sample may be taken when I − D ≥ min_size and I · samples_per_insert − (S + 1) ≥ min_difference,
//   an item may be inserted when I + 1 − D ≤ min_size or (I + 1) · samples_per_insert − S ≤ max_difference.
struct RateLimits {
  double samples_per_insert = 1;
  std::uint64_t min_size = 1;
  double min_difference = std::numeric_limits<double>::lowest();
  double max_difference = std::numeric_limits<double>::max();
};

// Samples wait for `items` items; nothing else waits.
RateLimits min_size(std::uint64_t items);
// About `ratio` samples for each insert, from `items` items on. The number of samples may differ by `buffer` from
// ratio · inserts, which is at least max(1, ratio): with less, neither side could go on. Error::failed otherwise.
RateLimits sample_to_insert(double ratio, std::uint64_t items, double buffer);
// At most `items` items that were not sampled yet; for queues and stacks, where each item is sampled once.
RateLimits queue_of(std::uint64_t items);

struct RateCounts {
  std::uint64_t inserts = 0;
  std::uint64_t samples = 0;
  std::uint64_t removals = 0;
};

class RateLimiter {
 public:
  // Error::failed when min_size is 0, when samples_per_insert is not above 0, or when no difference is allowed.
  explicit RateLimiter(const RateLimits& limits);

  bool can_sample(std::uint64_t count = 1) const;
  bool can_insert(std::uint64_t count = 1) const;
  // About the most samples that can have been taken after so many inserts.
  double most_samples(std::uint64_t inserts) const;
  void sampled() { ++counts_.samples; }
  void inserted() { ++counts_.inserts; }
  void removed() { ++counts_.removals; }

  const RateCounts& counts() const { return counts_; }
  void set(const RateCounts& counts) { counts_ = counts; }
  // "12 items of at least 100, 12 inserts, 0 samples": why somebody waits.
  std::string text() const;

 private:
  const RateLimits limits_;
  RateCounts counts_{};
};

}  // namespace lp::replay
