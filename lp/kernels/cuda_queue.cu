// Built without fused multiply-add, so that kernels have the bits of the host.
#include <cuda_runtime.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "lp/base/error.h"
#include "lp/cuda/staging.h"
#include "lp/kernels/cublas.h"
#include "lp/kernels/cuda_queue.h"

namespace lp::kernels {
namespace {

template <class Kernel>
__global__ void run_on_device(const __grid_constant__ Kernel kernel) {
  run_thread(kernel, std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x, std::uint64_t{gridDim.x} * blockDim.x);
}

class CudaQueue final : public Queue {
 public:
  explicit CudaQueue(const std::shared_ptr<cuda::Device>& device)
      : name_(device->name()),
        queue_(device->open_queue()),
        stage_(device),
        in_(device->open_queue()),
        way_in_(device),
        out_(device->open_queue()),
        way_out_(device) {
    static_cast<void>(stream());
    int number = 0;
    int processors = 0;
    check(cudaGetDevice(&number), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, number), "cudaDeviceGetAttribute");
    most_blocks_ = static_cast<std::uint32_t>(processors) * kBlocksOfAProcessor;
  }
  CudaQueue(const CudaQueue&) = delete;
  CudaQueue& operator=(const CudaQueue&) = delete;
  ~CudaQueue() override {
    try {
      queue_->wait();
    } catch (const Error&) {  // a GPU that has failed, or that is the parent's of this process, takes nothing back
      static_cast<void>(cublas_.release());
    }
  }

  void* allocate(std::size_t size) override {
    void* const memory = queue_->allocate(size);
    check(cudaMemsetAsync(memory, 0, size, stream()), "cudaMemsetAsync");
    return memory;
  }
  void free(void* memory) noexcept override { queue_->free(memory); }
  void to_device(void* to, const void* host, std::size_t size) override { bring(*queue_, stage_, to, host, size); }
  void to_host(void* host, const void* from, std::size_t size) override { fetch(*queue_, stage_, host, from, size); }
  void to_device_beside(void* to, const void* host, std::size_t size) override {
    bring(*in_, way_in_, to, host, size);
    queue_->follow(*in_->mark());
  }
  void to_host_beside(void* host, const void* from, std::size_t size, const cuda::Mark& made) override {
    out_->follow(made);
    fetch(*out_, way_out_, host, from, size);
    out_->wait();
  }
  void copy(void* to, const void* from, std::size_t size) override { queue_->copy(to, from, size); }
  std::shared_ptr<const cuda::Mark> mark() override { return queue_->mark(); }
  void follow(const cuda::Mark& mark) override { queue_->follow(mark); }
  void wait() override { queue_->wait(); }
  void* native() const override { return queue_->native(); }

  void run(const Kernel& kernel) override {
    std::visit([this](const auto& one) { launch(one); }, kernel);
  }

  void multiply(const Product& product) override {
    cudaStream_t const here = stream();
    if (cublas_ == nullptr) cublas_ = std::make_unique<Cublas>(here);
    cublas_->multiply(product);
  }

  bool on_device() const override { return true; }

 private:
  static constexpr std::uint32_t kBlocksOfAProcessor = 32;

  cudaStream_t stream() const { return static_cast<cudaStream_t>(queue_->native()); }

  void check(cudaError_t result, const char* what) const {
    if (result == cudaSuccess) return;
    cudaGetLastError();  // forgets an error that the next call would report again
    throw_failed(name_ + ": " + what + ": " + cudaGetErrorString(result));
  }

  // CUDA copies a few bytes of ordinary memory as fast.
  static void bring(cuda::Queue& queue, cuda::Stage& stage, void* to, const void* host, std::size_t size) {
    if (size < cuda::Stage::kPiece) return queue.to_device(to, host, size);
    stage.to_device(queue, to, static_cast<const std::byte*>(host), size);
  }
  static void fetch(cuda::Queue& queue, cuda::Stage& stage, void* host, const void* from, std::size_t size) {
    if (size < cuda::Stage::kPiece) return queue.to_host(host, from, size);
    stage.to_host(queue, static_cast<std::byte*>(host), from, size);
  }

  template <class One>
  void launch(const One& kernel) {
    const std::uint64_t indices = kernel.indices();
    if (indices == 0) return;
    const Grid grid = grid_for(indices, most_blocks_);
    run_on_device<<<grid.blocks, grid.threads, 0, stream()>>>(kernel);
    check(cudaGetLastError(), "a kernel cannot run");
  }

  const std::string name_;
  const std::unique_ptr<cuda::Queue> queue_;
  cuda::Stage stage_;
  const std::unique_ptr<cuda::Queue> in_;  // copies beside the work
  cuda::Stage way_in_;
  const std::unique_ptr<cuda::Queue> out_;
  cuda::Stage way_out_;
  std::uint32_t most_blocks_ = 1;
  std::unique_ptr<Cublas> cublas_{};
};

}  // namespace

std::unique_ptr<Queue> cuda_queue(std::shared_ptr<cuda::Device> device) { return std::make_unique<CudaQueue>(device); }

}  // namespace lp::kernels
