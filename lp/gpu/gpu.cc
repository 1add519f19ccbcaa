#include "lp/gpu/gpu.h"

#include <algorithm>
#include <array>

namespace lp::gpu {

bool GpuFault::breaks_device() const noexcept {
  constexpr std::array<std::uint64_t, 6> kMistakesOfPrograms = {
      13,   // graphics engine exception, such as an index out of bounds
      31,   // memory page fault
      43,   // stopped processing
      45,   // cleaned up because of an earlier error
      68,   // video processor exception
      109,  // context switch timeout
  };
  return std::find(kMistakesOfPrograms.begin(), kMistakesOfPrograms.end(), xid) == kMistakesOfPrograms.end();
}

}  // namespace lp::gpu
