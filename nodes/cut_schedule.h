#pragma once
// When a node that counts updates takes a cut: each time the count has grown by `every`, and after the last update,
// which may come before its number if the training ends early. A value.

#include <cstdint>

namespace lp {

struct CutSchedule {
  std::uint64_t every = 0;  // updates; 0: only after the last
  std::uint64_t last = 0;   // the number of all updates
  std::uint64_t cut = 0;    // the updates at the newest cut

  // Returns whether a cut is due after `updates` updates, the last of which `ends` the training. If so, the cut counts
  // as taken.
  bool due(std::uint64_t updates, bool ends = false) {
    if (updates <= cut || (updates < last && !ends && (every == 0 || updates - cut < every))) return false;
    cut = updates;
    return true;
  }
};

}  // namespace lp
