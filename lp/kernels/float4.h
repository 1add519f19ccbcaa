#pragma once
// Four neighbouring floats, which a thread of a device loads and stores at once: with one float each, a kernel does not
// reach the bandwidth of the memory.
//
// Pure functions: any thread.

#include <cstdint>
#include <cstring>

#include "lp/kernels/host_device.h"

namespace lp::kernels {

struct alignas(16) Float4 {
  float at[4];
};

// The number of Float4 in which `size` floats lie; the last may be in part.
LP_HOST_DEVICE constexpr std::uint64_t float4s(std::uint64_t size) { return size / 4 + (size % 4 == 0 ? 0 : 1); }

// How many floats there are of the Float4 with this index.
LP_HOST_DEVICE constexpr unsigned floats_in(std::uint64_t index, std::uint64_t size) {
  return size - 4 * index < 4 ? static_cast<unsigned>(size - 4 * index) : 4U;
}

LP_HOST_DEVICE inline bool is_aligned(const void* at) {
  return reinterpret_cast<std::uintptr_t>(at) % sizeof(Float4) == 0;
}

// The first `count` floats; zeros follow.
LP_HOST_DEVICE inline Float4 load_float4(const float* from, unsigned count) {
  Float4 values{};
  if (count == 4 && is_aligned(from)) {
    const auto* const aligned = static_cast<const float*>(__builtin_assume_aligned(from, sizeof(Float4)));
    std::memcpy(&values, aligned, sizeof(Float4));
    return values;
  }
  for (unsigned i = 0; i < 4; ++i) {
    if (i < count) values.at[i] = from[i];
  }
  return values;
}

LP_HOST_DEVICE inline void store_float4(const Float4& values, float* to, unsigned count) {
  if (count == 4 && is_aligned(to)) {
    auto* const aligned = static_cast<float*>(__builtin_assume_aligned(to, sizeof(Float4)));
    std::memcpy(aligned, &values, sizeof(Float4));
    return;
  }
  for (unsigned i = 0; i < 4; ++i) {
    if (i < count) to[i] = values.at[i];
  }
}

}  // namespace lp::kernels
