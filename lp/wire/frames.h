#pragma once
// The bytes of one message: a value, owned by whoever holds it.

#include <vector>

#include "lp/base/array.h"

namespace lp {

// Big arrays are frames of their own, so that no path copies them into the body: those of at least this many bytes.
inline constexpr std::size_t kArrayFrameBytes = 4096;

// How deep values may lie in one another (a list in a map in a struct is three deep), so that no message overflows a
// stack.
inline constexpr int kMaxNesting = 200;

struct Frames {
  Buffer body{};
  std::vector<Buffer> arrays{};  // in the order in which the body speaks of them
};

}  // namespace lp
