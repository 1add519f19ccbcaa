// A stand-in for libcuda.so.1, with the functions that ipc_obstacle() asks. CUDA_STAND_IN has two numbers: of the GPUs,
// and the error with which the last of them gives no handle, 0 for none. Without the variable CUDA does not begin.

#include <cstddef>
#include <cstdlib>
#include <sstream>

namespace {

constexpr int kNoDevice = 100;

struct Facts {
  int gpus = 0;
  int error = 0;
};
Facts facts() {
  Facts all;
  std::istringstream(std::getenv("CUDA_STAND_IN")) >> all.gpus >> all.error;
  return all;
}

int current = 0;    // the GPU whose context is on top
int held = 0;       // contexts and memory that are not given back
int context_of[8];  // their addresses are the contexts

}  // namespace

extern "C" {
int cuInit(unsigned) { return std::getenv("CUDA_STAND_IN") == nullptr ? kNoDevice : 0; }
int cuDeviceGetCount(int* count) {
  *count = facts().gpus;
  return 0;
}
int cuDeviceGet(int* device, int index) {
  *device = index;
  return 0;
}
int cuDevicePrimaryCtxRetain(int** context, int device) {
  ++held;
  *context = &context_of[device];
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) {
  --held;
  return 0;
}
int cuCtxPushCurrent_v2(int* context) {
  ++held;
  current = static_cast<int>(context - context_of);
  return 0;
}
int cuCtxPopCurrent_v2(int** context) {
  --held;
  *context = &context_of[current];
  return 0;
}
int cuMemAlloc_v2(unsigned long long* address, std::size_t) {
  ++held;
  *address = 4096;
  return 0;
}
int cuMemFree_v2(unsigned long long) {
  --held;
  return 0;
}
int cuIpcGetMemHandle(void*, unsigned long long) { return current + 1 == facts().gpus ? facts().error : 0; }
int cuda_stand_in_held() { return held; }
}
