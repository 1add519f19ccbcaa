#include "lp/kernels/chosen_device.h"

#include "lp/base/error.h"
#include "lp/gpu/toolkit.h"
#include "lp/kernels/device_queue.h"

namespace lp::kernels {

std::string chosen_device(std::string_view wanted) {
  if (wanted == "auto") return gpu::obstacle_here().empty() ? "cuda" : "cpu";
  if (wanted != "cpu" && wanted != "cuda") {
    throw_failed("--device=" + std::string(wanted) + ": give cpu, cuda or auto");
  }
  if (wanted == "cuda" && gpu::toolkit() == 0) throw_failed("--device=cuda: " + gpu::obstacle_here());
  return std::string(wanted);
}

MakeQueue queue_on(std::string_view device) {
  if (device != "cuda") return {};
  return [] { return device_queue(); };
}

}  // namespace lp::kernels
