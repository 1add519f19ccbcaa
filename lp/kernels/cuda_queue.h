#pragma once
// The part of device_queue.h that needs a CUDA toolkit. A function; any thread.

#include <memory>

#include "lp/cuda/device.h"
#include "lp/kernels/queue.h"

namespace lp::kernels {

std::unique_ptr<Queue> cuda_queue(std::shared_ptr<cuda::Device> device);

}  // namespace lp::kernels
