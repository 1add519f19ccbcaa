#include "nodes/collective/sum_in_rank_order.h"

#include <algorithm>
#include <cstddef>

namespace lp {
namespace {

constexpr std::size_t kBlock = 1024;  // values that are summed at a time: they stay in the processor's first cache

}  // namespace

Array<float> sum_in_rank_order(std::span<const Array<float>> arrays) {
  auto sum = Array<float>::uninitialized(arrays[0].size());
  const std::span<float> total = sum.edit();
  for (std::size_t begin = 0; begin < total.size(); begin += kBlock) {
    const std::size_t count = std::min(kBlock, total.size() - begin);
    float* const to = total.data() + begin;
    std::copy_n(arrays[0].data() + begin, count, to);
    for (const Array<float>& one : arrays.subspan(1)) {
      const float* const from = one.data() + begin;
      for (std::size_t i = 0; i < count; ++i) to[i] += from[i];
    }
  }
  return sum;
}

}  // namespace lp
