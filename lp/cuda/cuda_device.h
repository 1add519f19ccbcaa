#pragma once
// The GPU of a number through CUDA's runtime. Only builds with the CUDA toolkit have this function; device() calls it.

#include <memory>

#include "lp/cuda/device.h"

namespace lp::cuda {

// One object for each number, as long as somebody has it. Any thread.
std::shared_ptr<Device> cuda_device(int number);

}  // namespace lp::cuda
