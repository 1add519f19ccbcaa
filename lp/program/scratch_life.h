#pragma once
// How long a directory of large files of a run is needed. A value.

#include <cstdint>

namespace lp {

enum class ScratchLife : std::uint8_t {
  run,   // up to the end of the run, however it ends
  cuts,  // as long as the run's cuts, which name files in it: after a run that has not succeeded, up to `lp rm`
};

}  // namespace lp
