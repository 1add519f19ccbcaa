#pragma once
// Four neighbouring floats, which a thread of a device loads and stores at once: with one float each, a kernel does not
// reach the bandwidth of the memory.
//
// Pure functions: any thread.

#include <cstdint>
#include <cstring>

#include "lp/kernels/host_device.h"

namespace lp::kernels {

struct alignas(16) Four {
  float at[4];
};

// The number of fours in which `size` floats lie; the last may be in part.
LP_HOST_DEVICE constexpr std::uint64_t fours(std::uint64_t size) { return size / 4 + (size % 4 == 0 ? 0 : 1); }

// How many floats of this four there are.
LP_HOST_DEVICE constexpr unsigned floats_in(std::uint64_t four, std::uint64_t size) {
  return size - 4 * four < 4 ? static_cast<unsigned>(size - 4 * four) : 4U;
}

LP_HOST_DEVICE inline bool is_aligned(const void* at) {
  return reinterpret_cast<std::uintptr_t>(at) % sizeof(Four) == 0;
}

// The first `count` floats; zeros follow.
LP_HOST_DEVICE inline Four load_four(const float* from, unsigned count) {
  Four four{};
  if (count == 4 && is_aligned(from)) {
    const auto* const aligned = static_cast<const float*>(__builtin_assume_aligned(from, sizeof(Four)));
    std::memcpy(&four, aligned, sizeof(Four));
    return four;
  }
  for (unsigned i = 0; i < 4; ++i) {
    if (i < count) four.at[i] = from[i];
  }
  return four;
}

LP_HOST_DEVICE inline void store_four(const Four& four, float* to, unsigned count) {
  if (count == 4 && is_aligned(to)) {
    auto* const aligned = static_cast<float*>(__builtin_assume_aligned(to, sizeof(Four)));
    std::memcpy(aligned, &four, sizeof(Four));
    return;
  }
  for (unsigned i = 0; i < 4; ++i) {
    if (i < count) to[i] = four.at[i];
  }
}

}  // namespace lp::kernels
