#pragma once
// Puts the spans of one thread into rows: in a row, a span lies beside all others or inside its own parent. A pure
// function.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lp/base/scheduler.h"

namespace lp::tool {

struct Slice {
  std::size_t number = 0;    // for the caller
  std::uint64_t id = 0;      // the number of its span
  std::uint64_t parent = 0;  // 0: it lies in no other
  Time begin{};
  Time end{};
  std::size_t row = 0;
};

// Sorts the slices by their begin, those that lie around others first, and sets their rows.
void put_into_rows(std::vector<Slice>& slices);

}  // namespace lp::tool
