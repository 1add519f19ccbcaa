#include "lp/kernels/device_queue.h"

#include <string>

#include "lp/base/error.h"
#include "lp/gpu/toolkit.h"
#ifdef LP_HAS_CUDA
#include "lp/kernels/cuda_queue.h"
#endif

namespace lp::kernels {

std::unique_ptr<Queue> device_queue([[maybe_unused]] int device) {
  if (const std::string obstacle = gpu::obstacle_here(); !obstacle.empty()) throw_failed(obstacle);
#ifdef LP_HAS_CUDA
  return cuda_queue(device);
#else
  throw_failed("this program was built without a CUDA toolkit");  // which obstacle_here() has said
#endif
}

}  // namespace lp::kernels
