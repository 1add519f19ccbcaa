// CUDA's runtime behind the interface of device.h. It is compiled where there is a CUDA toolkit.

#include <cuda_runtime_api.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <mutex>

#include "lp/base/error.h"
#include "lp/base/text.h"
#include "lp/cuda/cuda_device.h"

namespace lp::cuda {
namespace {

class CudaDevice;
using SharedDevice = std::shared_ptr<const CudaDevice>;

class CudaDevice final : public Device, public std::enable_shared_from_this<CudaDevice> {
 public:
  explicit CudaDevice(int number) : number_(number), process_(getpid()) {
    cudaDeviceProp properties{};
    check(cudaSetDevice(number), "cudaSetDevice");
    check(cudaGetDeviceProperties(&properties, number), "cudaGetDeviceProperties");
    name_ = "GPU " + std::to_string(number) + " (" + properties.name + ")";
    cudaMemPool_t pool = nullptr;
    check(cudaDeviceGetDefaultMemPool(&pool, number), "cudaDeviceGetDefaultMemPool");
    std::uint64_t keeps = UINT64_MAX;  // memory that comes back is for the next array, and not for the driver
    check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keeps), "cudaMemPoolSetAttribute");
  }

  const std::string& name() const noexcept override { return name_; }
  std::unique_ptr<Queue> open_queue() override;
  std::unique_ptr<Pinned> pin(std::size_t size) override;

  // Makes the device the current one of this thread.
  void enter() const {
    if (getpid() != process_) {
      throw_failed(name_ + ": this process was forked from one that uses CUDA, which cannot go on in it: begin CUDA " +
                   "after the fork, or start a program instead");
    }
    check(cudaSetDevice(number_), "cudaSetDevice");
  }
  bool entered() const noexcept { return getpid() == process_ && cudaSetDevice(number_) == cudaSuccess; }
  void check(cudaError_t error, const char* what) const {
    if (error != cudaSuccess) throw_failed(name_ + ": " + what + ": " + cudaGetErrorString(error));
  }

 private:
  const int number_;
  const pid_t process_;
  std::string name_;
};

class CudaMark final : public Mark {
 public:
  CudaMark(SharedDevice device, cudaStream_t stream) : device_(std::move(device)) {
    device_->check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming | cudaEventBlockingSync),
                   "cudaEventCreate");
    if (const cudaError_t error = cudaEventRecord(event_, stream); error != cudaSuccess) {
      cudaEventDestroy(event_);
      device_->check(error, "cudaEventRecord");
    }
  }
  ~CudaMark() override {
    if (device_->entered()) cudaEventDestroy(event_);
  }
  CudaMark(const CudaMark&) = delete;
  CudaMark& operator=(const CudaMark&) = delete;
  void wait() const override {
    device_->enter();
    device_->check(cudaEventSynchronize(event_), "cudaEventSynchronize");
  }
  cudaEvent_t event() const { return event_; }

 private:
  const SharedDevice device_;
  cudaEvent_t event_ = nullptr;
};

class CudaQueue final : public Queue {
 public:
  explicit CudaQueue(SharedDevice device) : device_(std::move(device)) {
    device_->enter();
    device_->check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
  }
  ~CudaQueue() override {
    if (device_->entered()) cudaStreamDestroy(stream_);  // the device frees it when its work is done
  }
  CudaQueue(const CudaQueue&) = delete;
  CudaQueue& operator=(const CudaQueue&) = delete;

  void* allocate(std::size_t size) override {
    device_->enter();
    void* memory = nullptr;
    const cudaError_t error = cudaMallocAsync(&memory, size, stream_);
    if (error == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // the next call must not see it
      throw Error(ErrorKind::overloaded, device_->name() + " has no " + memory_text(size) + " of memory left");
    }
    device_->check(error, "cudaMallocAsync");
    return memory;
  }
  void free(void* memory) noexcept override {
    if (device_->entered()) cudaFreeAsync(memory, stream_);
  }
  void to_device(void* to, const void* host, std::size_t size) override {
    transfer(to, host, size, cudaMemcpyHostToDevice);
  }
  void to_host(void* host, const void* from, std::size_t size) override {
    transfer(host, from, size, cudaMemcpyDeviceToHost);
  }
  void copy(void* to, const void* from, std::size_t size) override {
    transfer(to, from, size, cudaMemcpyDeviceToDevice);
  }
  std::shared_ptr<const Mark> mark() override {
    device_->enter();
    return std::make_shared<const CudaMark>(device_, stream_);
  }
  void follow(const Mark& mark) override {
    device_->enter();
    device_->check(cudaStreamWaitEvent(stream_, static_cast<const CudaMark&>(mark).event(), 0), "cudaStreamWaitEvent");
  }
  void wait() override {
    device_->enter();
    device_->check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }
  void* native() const override {
    device_->enter();
    return stream_;
  }

 private:
  void transfer(void* to, const void* from, std::size_t size, cudaMemcpyKind kind) {
    device_->enter();
    if (size > 0) device_->check(cudaMemcpyAsync(to, from, size, kind, stream_), "cudaMemcpyAsync");
  }

  const SharedDevice device_;
  cudaStream_t stream_ = nullptr;
};

class CudaPinned final : public Pinned {
 public:
  CudaPinned(SharedDevice device, std::size_t size) : device_(std::move(device)) {
    device_->enter();
    device_->check(cudaMallocHost(&memory_, size), "cudaMallocHost");
  }
  ~CudaPinned() override {
    if (device_->entered()) cudaFreeHost(memory_);
  }
  CudaPinned(const CudaPinned&) = delete;
  CudaPinned& operator=(const CudaPinned&) = delete;
  std::byte* data() const noexcept override { return static_cast<std::byte*>(memory_); }

 private:
  const SharedDevice device_;
  void* memory_ = nullptr;
};

std::unique_ptr<Queue> CudaDevice::open_queue() { return std::make_unique<CudaQueue>(shared_from_this()); }
std::unique_ptr<Pinned> CudaDevice::pin(std::size_t size) {
  return std::make_unique<CudaPinned>(shared_from_this(), size);
}

}  // namespace

std::shared_ptr<Device> cuda_device(int number) {
  static std::mutex mutex;
  static std::map<int, std::weak_ptr<CudaDevice>> devices;
  const std::lock_guard lock(mutex);
  std::shared_ptr<CudaDevice> device = devices[number].lock();
  if (device == nullptr) devices[number] = device = std::make_shared<CudaDevice>(number);
  return device;
}

}  // namespace lp::cuda
