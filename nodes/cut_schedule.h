#pragma once
// When a node that counts updates cuts: when there are so many more, and after the last of all. A value.

#include <cstdint>

namespace lp {

struct CutSchedule {
  std::uint64_t every = 0;  // updates; 0: only after the last
  std::uint64_t last = 0;   // the number of all updates
  std::uint64_t cut = 0;    // after how many the newest cut was taken

  // Whether a cut is due after so many updates. If so, it counts as taken.
  bool due(std::uint64_t updates) {
    if (updates <= cut || (updates < last && (every == 0 || updates - cut < every))) return false;
    cut = updates;
    return true;
  }
};

}  // namespace lp
