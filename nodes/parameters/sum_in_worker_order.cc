// Plain loops, built with -ffp-contract=off like optimizer.cc: every value gets the same operations wherever it is in a
// shard.
#include "nodes/parameters/sum_in_worker_order.h"

#include <algorithm>
#include <cstddef>

namespace lp {
namespace {

// The weighted sum of two gradients with different keys.
WaitingGradient merged(const WaitingGradient& a, const WaitingGradient& b, const KeyIndex& index, std::size_t width) {
  const auto keys_of = [&index](const WaitingGradient& one) {
    return one.keys.list.empty() ? index.keys_in(one.keys.range) : one.keys.list;
  };
  const Array<std::uint64_t> keys_a = keys_of(a);
  const Array<std::uint64_t> keys_b = keys_of(b);
  std::vector<std::uint64_t> keys;
  std::vector<float> values;
  keys.reserve(keys_a.size() + keys_b.size());
  values.reserve((keys_a.size() + keys_b.size()) * width);
  for (std::size_t i = 0, j = 0; i < keys_a.size() || j < keys_b.size();) {
    const bool has_a = i < keys_a.size() && (j == keys_b.size() || keys_a[i] <= keys_b[j]);
    const bool has_b = j < keys_b.size() && (i == keys_a.size() || keys_b[j] <= keys_a[i]);
    keys.push_back(has_a ? keys_a[i] : keys_b[j]);
    for (std::size_t k = 0; k < width; ++k) {
      const float value_a = has_a ? a.weight * a.values[i * width + k] : 0.0F;
      const float value_b = has_b ? b.weight * b.values[j * width + k] : 0.0F;
      values.push_back(value_a + value_b);
    }
    i += has_a ? 1 : 0;
    j += has_b ? 1 : 0;
  }
  WaitingGradient sum{.round = a.round, .stamp = a.stamp, .examples = a.examples};
  sum.keys.list = Array<std::uint64_t>::copy_of(keys);
  sum.runs = index.find(sum.keys.list.span(), nullptr);
  sum.values = Array<float>::copy_of(values);
  return sum;
}

}  // namespace

void sort_by_worker(std::vector<WaitingGradient>& gradients) {
  std::stable_sort(gradients.begin(), gradients.end(),
                   [](const WaitingGradient& a, const WaitingGradient& b) { return a.stamp.worker < b.stamp.worker; });
}

void merge_rows(std::vector<WaitingGradient>& gradients, const KeyIndex& index, std::size_t width) {
  const bool same_rows = std::all_of(gradients.begin(), gradients.end(),
                                     [&](const WaitingGradient& one) { return one.runs == gradients.front().runs; });
  if (same_rows) return;
  for (std::size_t k = 1; k < gradients.size(); ++k) gradients[0] = merged(gradients[0], gradients[k], index, width);
  gradients.resize(1);
}

void sum_values(std::span<const WaitingGradient> gradients, std::size_t from, std::span<float> sum) {
  for (std::size_t k = 0; k < gradients.size(); ++k) {
    const float* const g = gradients[k].values.data() + from;
    const float weight = gradients[k].weight;
    if (k == 0) {
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = weight * g[i];
    } else {
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += weight * g[i];
    }
  }
}

}  // namespace lp
