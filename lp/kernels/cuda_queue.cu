// Built without fused multiply-add, so that kernels have the bits of the host.
#include <cuda_runtime.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "lp/base/error.h"
#include "lp/kernels/cublas.h"
#include "lp/kernels/cuda_queue.h"

namespace lp::kernels {
namespace {

void check(cudaError_t result, const std::string& what) {
  if (result == cudaSuccess) return;
  cudaGetLastError();  // forgets an error that the next call would report again
  throw_failed(what + ": " + cudaGetErrorString(result));
}

template <class Kernel>
__global__ void run_on_device(const __grid_constant__ Kernel kernel) {
  run_thread(kernel, std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x, std::uint64_t{gridDim.x} * blockDim.x);
}

class CudaQueue final : public Queue {
 public:
  explicit CudaQueue(int device) : device_(device), process_(getpid()) {
    use();
    int processors = 0;
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device_), name());
    most_blocks_ = static_cast<std::uint32_t>(processors) * kBlocksOfAProcessor;
    keep_freed_memory();
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), name() + " gives no stream");
  }
  CudaQueue(const CudaQueue&) = delete;
  CudaQueue& operator=(const CudaQueue&) = delete;
  ~CudaQueue() override {
    if (getpid() != process_) return;  // which has no device
    cudaSetDevice(device_);
    cudaStreamSynchronize(stream_);
    cublas_.reset();
    cudaStreamDestroy(stream_);
  }

  void* allocate(std::size_t bytes) override {
    use();
    void* memory = nullptr;
    check(cudaMallocAsync(&memory, bytes, stream_),
          name() + " has no more " + std::to_string(bytes) + " bytes of memory");
    check(cudaMemsetAsync(memory, 0, bytes, stream_), name() + " cannot clear memory");
    return memory;
  }
  void free(void* memory) noexcept override {
    if (getpid() != process_) return;
    cudaSetDevice(device_);
    cudaFreeAsync(memory, stream_);
  }

  void to_device(void* to, const void* host, std::size_t bytes) override {
    transfer(to, host, bytes, cudaMemcpyHostToDevice);
  }
  void to_host(void* host, const void* from, std::size_t bytes) override {
    transfer(host, from, bytes, cudaMemcpyDeviceToHost);
  }
  void copy(void* to, const void* from, std::size_t bytes) override {
    transfer(to, from, bytes, cudaMemcpyDeviceToDevice);
  }

  void run(const Kernel& kernel) override {
    use();
    std::visit([this](const auto& one) { launch(one); }, kernel);
  }

  void multiply(const Product& product) override {
    use();
    if (!cublas_) cublas_.emplace(stream_);
    cublas_->multiply(product);
  }

  void wait() override {
    use();
    check(cudaStreamSynchronize(stream_), name() + " has failed");
  }

  bool on_device() const override { return true; }

 private:
  static constexpr std::uint32_t kBlocksOfAProcessor = 32;

  std::string name() const { return "GPU " + std::to_string(device_); }

  // The calls that follow in this thread are for this device.
  void use() const {
    if (getpid() != process_) {
      throw_failed(name() + " cannot be used by a process that was forked after its parent began to use it: start " +
                   "another program instead");
    }
    check(cudaSetDevice(device_), name() + " cannot be used");
  }

  // The pool keeps memory for the next allocation: else each wait() returns it to the driver.
  void keep_freed_memory() const {
    cudaMemPool_t pool = nullptr;
    check(cudaDeviceGetDefaultMemPool(&pool, device_), name() + " has no pool of memory");
    std::uint64_t all = ~std::uint64_t{0};
    check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all), name() + " has no pool of memory");
  }

  void transfer(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    use();
    if (bytes != 0) check(cudaMemcpyAsync(to, from, bytes, kind, stream_), name() + " cannot copy");
  }

  template <class One>
  void launch(const One& kernel) {
    const std::uint64_t indices = kernel.indices();
    if (indices == 0) return;
    const Grid grid = grid_for(indices, most_blocks_);
    run_on_device<<<grid.blocks, grid.threads, 0, stream_>>>(kernel);
    check(cudaGetLastError(), name() + " cannot run a kernel");
  }

  const int device_;
  const pid_t process_;
  std::uint32_t most_blocks_ = 1;
  cudaStream_t stream_ = nullptr;
  std::optional<Cublas> cublas_{};
};

}  // namespace

std::unique_ptr<Queue> cuda_queue(int device) { return std::make_unique<CudaQueue>(device); }

}  // namespace lp::kernels
