#pragma once
// Whether processes of this host may hand one another memory of its GPUs (CUDA IPC). It asks the driver, which is
// loaded where it is installed. A function; any thread, but it begins CUDA in this process.

#include <string>

namespace lp::gpu {

constexpr const char* kDriverLibrary = "libcuda.so.1";

// Returns why the driver gives no handle of a GPU's memory, like "GPU 1: CUDA error 801"; empty: every GPU has a
// handle.
std::string ipc_obstacle(const std::string& driver = kDriverLibrary);

}  // namespace lp::gpu
