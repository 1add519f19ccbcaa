#pragma once
// Which cuts of the run have ended, and how, for the nodes of a process that wait for them. Owned by the Runtime; any
// thread.

#include <cstdint>
#include <map>
#include <mutex>
#include <set>

#include "lp/rpc/core/future.h"

namespace lp {

class CutEnds {
 public:
  // The cut `step`, and with it every older one, is complete, or the cut `step` never will be.
  void end(std::uint64_t step, bool complete);
  // Whether the cut is complete, as soon as that is known.
  Future<bool> end_of(std::uint64_t step);

 private:
  static constexpr std::size_t kRemembered = 64;  // cuts that were given up

  std::mutex mutex_;
  std::uint64_t complete_ = 0;
  bool any_complete_ = false;
  std::set<std::uint64_t> given_up_{};
  std::multimap<std::uint64_t, Promise<bool>> waiting_{};
};

}  // namespace lp
