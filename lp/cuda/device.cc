#include "lp/cuda/device.h"

#include "lp/base/error.h"
#include "lp/cuda/cuda_device.h"
#include "lp/gpu/toolkit.h"

namespace lp::cuda {

std::shared_ptr<Device> device(int number) {
  if (const std::string obstacle = gpu::obstacle_here(); !obstacle.empty()) throw_failed(obstacle);
#ifdef LP_HAS_CUDA
  return cuda_device(number);
#else
  throw_failed("GPU " + std::to_string(number) + " cannot be used by a build without the CUDA toolkit");
#endif
}

}  // namespace lp::cuda
