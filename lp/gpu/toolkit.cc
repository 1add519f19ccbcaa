#include "lp/gpu/toolkit.h"

#include <optional>

#include "lp/base/error.h"
#include "lp/gpu/gpus_here.h"
#include "lp/gpu/nvml.h"

namespace lp::gpu {

int toolkit() {
#ifdef LP_CUDA_MAJOR
  return LP_CUDA_MAJOR * 1000 + LP_CUDA_MINOR * 10;
#else
  return 0;
#endif
}

std::string cuda_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string obstacle_here() {
  if (toolkit() == 0) return "this program was built without the CUDA toolkit: install it, and run cmake again";
  std::optional<Nvml> nvml;
  try {
    nvml.emplace();
  } catch (const Error& error) {
    return "this host has no usable NVIDIA driver (" + error.text() + "): install one";
  }
  // A driver runs programs of every minor version of its own CUDA.
  if (nvml->cuda() / 1000 < toolkit() / 1000) {
    return "the driver " + nvml->driver() + " of this host knows CUDA " + cuda_text(nvml->cuda()) +
           ", and this program was built with CUDA " + cuda_text(toolkit()) + ": install a newer driver";
  }
  if (nvml->gpus().empty()) return "the driver " + nvml->driver() + " of this host sees no GPU";
  if (gpus_here().empty()) {
    return "CUDA_VISIBLE_DEVICES names no GPU of this host, which has " + std::to_string(nvml->gpus().size());
  }
  return {};
}

}  // namespace lp::gpu
