#pragma once
// How the indices of a kernel are divided among threads. A kernel is a value with indices(), their number, and
// operator()(index), its body. Each index writes its own results, and reads nothing that another index of the same
// kernel writes. So every grid gives the same bits, on the host as on a device.
//
// Pure functions: any thread.

#include <algorithm>
#include <cstdint>

#include "lp/kernels/host_device.h"

namespace lp::kernels {

// The threads of a launch, in blocks of equal size.
struct Grid {
  std::uint32_t blocks = 1;
  std::uint32_t threads = 1;  // in a block

  constexpr std::uint64_t all() const { return std::uint64_t{blocks} * threads; }
};

// The grid for `indices` indices on a device that runs up to `most_blocks` blocks at once. A thread takes several
// indices when there are more of them than threads.
constexpr Grid grid_for(std::uint64_t indices, std::uint32_t most_blocks, std::uint32_t threads = 256) {
  const std::uint64_t wanted = indices / threads + (indices % threads == 0 ? 0 : 1);
  return {.blocks = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(wanted, 1, most_blocks)), .threads = threads};
}

// Runs the indices of one thread out of `threads`: every one of them that is `thread` modulo `threads`. Below 2^63
// indices, none overflows.
template <class Kernel>
LP_HOST_DEVICE void run_thread(const Kernel& kernel, std::uint64_t thread, std::uint64_t threads) {
  const std::uint64_t end = kernel.indices();
  for (std::uint64_t i = thread; i < end; i += threads) kernel(i);
}

// Runs all threads of a grid on the host, one after the other.
template <class Kernel>
void run_grid(const Kernel& kernel, Grid grid) {
  for (std::uint64_t thread = 0; thread < grid.all(); ++thread) run_thread(kernel, thread, grid.all());
}

}  // namespace lp::kernels
