#pragma once
// The time of an allreduce, measured in the same way for lp and for its peers.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <vector>

inline constexpr std::size_t kSmallest = 4 << 10;
inline constexpr std::size_t kLargest = std::size_t{64} << 20;

struct Timed {
  std::size_t bytes = 0;
  double microseconds = 0;
};

inline void print(const std::vector<Timed>& times) {
  for (const Timed& one : times) std::printf("%zu %.1f\n", one.bytes, one.microseconds);
}

// All ranks call `reduce(values)` equally often, and `barrier()` before they begin. Values is a library's own kind of
// memory, if it has one.
template <class Values, class Reduce, class Barrier>
std::vector<Timed> measure(std::size_t largest, Reduce reduce, Barrier barrier) {
  std::vector<Timed> out;
  using Clock = std::chrono::steady_clock;
  for (std::size_t bytes = kSmallest; bytes <= largest; bytes *= 4) {
    Values values(bytes / sizeof(float));
    const auto times = static_cast<int>(std::clamp<std::size_t>((std::size_t{16} << 20) / bytes, 2, 100));
    std::vector<double> means;
    for (int batch = 0; batch < 6; ++batch) {
      barrier();
      const auto begin = Clock::now();
      for (int i = 0; i < times; ++i) reduce(values);
      means.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count() / times);
    }
    std::sort(means.begin() + 1, means.end());  // the first one warms up
    out.push_back({bytes, means[3]});
  }
  return out;
}
