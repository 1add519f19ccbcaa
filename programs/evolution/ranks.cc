#include "programs/evolution/ranks.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace lp {

std::vector<float> centred_ranks(std::span<const double> values) {
  const std::size_t n = values.size();
  std::vector<float> ranks(n, 0);
  if (n < 2) return ranks;
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  for (std::size_t first = 0, last = 0; first < n; first = last) {
    while (last < n && values[order[last]] == values[order[first]]) ++last;
    const double mean = static_cast<double>(first + last - 1) / 2;
    const auto rank = static_cast<float>(mean / static_cast<double>(n - 1) - 0.5);
    for (std::size_t i = first; i < last; ++i) ranks[order[i]] = rank;
  }
  return ranks;
}

}  // namespace lp
