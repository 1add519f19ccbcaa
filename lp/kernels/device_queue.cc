#include "lp/kernels/device_queue.h"

#include <memory>
#include <utility>

#include "lp/cuda/device.h"
#ifdef LP_HAS_CUDA
#include "lp/kernels/cuda_queue.h"
#endif

namespace lp::kernels {

std::unique_ptr<Queue> device_queue(int device) {
  std::shared_ptr<cuda::Device> gpu = cuda::device(device);  // throws in a build without a toolkit
#ifdef LP_HAS_CUDA
  return cuda_queue(std::move(gpu));
#else
  return nullptr;
#endif
}

}  // namespace lp::kernels
