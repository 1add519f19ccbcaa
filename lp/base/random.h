#pragma once
// Random streams as functions of (seed, node name, step): a node that is restarted at a step draws the same numbers
// again.
//
// The numbers are stable for ever: they are the same on every platform with IEEE 754 doubles, in every build and every
// later version of lp. So std:: distributions, whose results differ between standard libraries, have no place here.
//
// A Random is a value; a copy repeats the numbers that the original will draw. One thread at a time.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

namespace lp {

// A stream of 2^65 numbers of 64 bits from Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
// easy as 1, 2, 3", SC 2011). It is a UniformRandomBitGenerator. Streams of different seeds, names or steps are
// independent for all practical purposes, whatever the number of them.
class Random {
 public:
  using result_type = std::uint64_t;

  Random(std::uint64_t seed, std::string_view name, std::uint64_t step = 0);

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
  result_type operator()() {
    if (used_ == block_.size()) refill();
    return block_[used_++];
  }

  // Uniform over 0 .. bound - 1, without bias. Error::failed when bound is 0.
  std::uint64_t below(std::uint64_t bound);

  // Uniform over the multiples of 2^-53 in [0, 1).
  double uniform() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }

  // Normal with mean 0 and variance 1: Marsaglia's polar method (Marsaglia and Bray, SIAM Review 6, 1964).
  double normal();

  // Puts `items` into a random order, each order equally likely (Fisher and Yates; Durstenfeld, CACM 7, 1964).
  template <class T, std::size_t extent>
  void shuffle(std::span<T, extent> items) {
    using std::swap;
    for (std::size_t left = items.size(); left > 1; --left) swap(items[left - 1], items[below(left)]);
  }

 private:
  void refill();

  std::array<std::uint32_t, 2> key_;  // derived from (seed, name)
  std::uint64_t step_;
  std::uint64_t next_ = 0;  // number of the next block of the stream
  std::array<std::uint64_t, 2> block_{};
  std::size_t used_ = block_.size();
  double spare_ = 0;  // the second of a pair of normals, if has_spare_
  bool has_spare_ = false;
};

namespace internal {

constexpr std::uint32_t low_half(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
constexpr std::uint32_t high_half(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

// Computes one block of Philox4x32-10. It is constexpr, so that the kernels of devices call it, too.
constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53U} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57U} * counter[2];
    counter = {high_half(b) ^ counter[1] ^ key[0], low_half(b), high_half(a) ^ counter[3] ^ key[1], low_half(a)};
    key[0] += 0x9E3779B9U;
    key[1] += 0xBB67AE85U;
  }
  return counter;
}

// Returns the natural logarithm of a normal positive number. It uses IEEE-exact operations only, because libm's last
// bit differs between versions and processors.
double portable_log(double x);

}  // namespace internal
}  // namespace lp
