#pragma once
// What the tests of kernels share: grids, of which none may change a bit, and values.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "lp/base/random.h"
#include "lp/kernels/grid.h"

namespace lp::test {

inline const std::vector<kernels::Grid> kGrids{{.blocks = 1, .threads = 1},
                                               {.blocks = 1, .threads = 32},
                                               {.blocks = 3, .threads = 7},
                                               {.blocks = 40, .threads = 64}};

// Sizes beside and between the multiples of a Float4, of eight, a warp and a block of threads.
inline const std::vector<std::size_t> kSizes{0, 1, 3, 4, 31, 64, 65, 255, 256, 1003};

inline std::vector<float> normal_values(std::size_t size, std::uint64_t step = 0) {
  Random random(3, "kernels", step);
  std::vector<float> out(size);
  for (float& value : out) value = static_cast<float>(random.normal());
  return out;
}

}  // namespace lp::test
