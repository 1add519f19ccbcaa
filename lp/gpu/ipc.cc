#include "lp/gpu/ipc.h"

#include <array>

#include "lp/base/error.h"
#include "lp/gpu/shared_library.h"

namespace lp::gpu {
namespace {

// The binary interface of libcuda.so.1, which NVIDIA keeps.
struct CudaContext;
using CudaAddress = unsigned long long;
struct IpcMemory {
  std::array<char, 64> reserved;
};
constexpr int kCudaSuccess = 0;
constexpr std::size_t kTried = 4096;  // bytes

struct Driver {
  explicit Driver(const std::string& path) : file(path) {
    file.get("cuInit", init);
    file.get("cuDeviceGetCount", count);
    file.get("cuDeviceGet", device);
    file.get("cuDevicePrimaryCtxRetain", retain);
    file.get("cuDevicePrimaryCtxRelease_v2", release);
    file.get("cuCtxPushCurrent_v2", push);
    file.get("cuCtxPopCurrent_v2", pop);
    file.get("cuMemAlloc_v2", allocate);
    file.get("cuMemFree_v2", free);
    file.get("cuIpcGetMemHandle", handle);
  }

  // The error of the first step that fails on the device.
  int give_handle(int index) const {
    int number = 0;
    CudaContext* context = nullptr;
    if (const int error = device(&number, index); error != kCudaSuccess) return error;
    if (const int error = retain(&context, number); error != kCudaSuccess) return error;
    int error = push(context);
    if (error == kCudaSuccess) {
      error = give_handle();
      pop(&context);
    }
    release(number);
    return error;
  }
  int give_handle() const {
    CudaAddress address = 0;
    if (const int error = allocate(&address, kTried); error != kCudaSuccess) return error;
    IpcMemory given{};
    const int error = handle(&given, address);
    free(address);
    return error;
  }

  SharedLibrary file;
  int (*init)(unsigned) = nullptr;
  int (*count)(int*) = nullptr;
  int (*device)(int*, int) = nullptr;
  int (*retain)(CudaContext**, int) = nullptr;
  int (*release)(int) = nullptr;
  int (*push)(CudaContext*) = nullptr;
  int (*pop)(CudaContext**) = nullptr;
  int (*allocate)(CudaAddress*, std::size_t) = nullptr;
  int (*free)(CudaAddress) = nullptr;
  int (*handle)(IpcMemory*, CudaAddress) = nullptr;
};

std::string cuda_error(int number) { return "CUDA error " + std::to_string(number); }

}  // namespace

std::string ipc_obstacle(const std::string& driver) {
  try {
    const Driver cuda(driver);
    if (const int error = cuda.init(0); error != kCudaSuccess) return cuda_error(error);
    int number = 0;
    if (const int error = cuda.count(&number); error != kCudaSuccess) return cuda_error(error);
    if (number == 0) return "there is no GPU";
    for (int i = 0; i < number; ++i) {
      if (const int error = cuda.give_handle(i); error != kCudaSuccess) {
        return "GPU " + std::to_string(i) + ": " + cuda_error(error);
      }
    }
    return {};
  } catch (const Error& missing) {
    return missing.text();
  }
}

}  // namespace lp::gpu
