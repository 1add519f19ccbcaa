// CUDA's runtime behind the interface of device.h. It is compiled where there is a CUDA toolkit.

#include <cuda_runtime_api.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/text.h"
#include "lp/cuda/cuda_device.h"
#include "lp/gpu/gpus_here.h"
#include "lp/gpu/memory_limit.h"

namespace lp::cuda {
namespace {

class CudaDevice;
using SharedDevice = std::shared_ptr<CudaDevice>;

class CudaDevice final : public Device, public std::enable_shared_from_this<CudaDevice> {
 public:
  explicit CudaDevice(int number) : number_(number), process_(getpid()) {
    cudaDeviceProp properties{};
    check(cudaSetDevice(number), "cudaSetDevice");
    check(cudaGetDeviceProperties(&properties, number), "cudaGetDeviceProperties");
    name_ = "GPU " + std::to_string(number) + " (" + properties.name + ")";
    std::memcpy(&place_, properties.uuid.bytes, sizeof place_);
    cudaMemPool_t pool = nullptr;
    check(cudaDeviceGetDefaultMemPool(&pool, number), "cudaDeviceGetDefaultMemPool");
    std::uint64_t keeps = UINT64_MAX;  // memory that comes back is for the next array, and not for the driver
    check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keeps), "cudaMemPoolSetAttribute");
    const std::vector<gpu::Gpu> here = gpu::gpus_here();
    const auto position = static_cast<std::size_t>(number);
    limit_ = gpu::MemoryLimit::here(position < here.size() ? here[position].uuid : name_);
  }

  const std::string& name() const noexcept override { return name_; }
  std::uint64_t place() const noexcept override { return place_; }
  std::unique_ptr<Queue> open_queue() override;
  std::unique_ptr<Pinned> pin(std::size_t size) override;
  std::optional<MemoryHandle> share(const void* memory) override;
  std::shared_ptr<const std::byte> open(const std::array<std::byte, 64>& base) override;

  // Memory for the work of the stream that follows, and back after its work so far.
  void* take(std::size_t size, cudaStream_t stream);
  void give_back(void* memory, cudaStream_t stream) noexcept;

  ~CudaDevice() override {
    if (entered()) free_blocks();
  }
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

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
  // Memory that other processes may open is not of CUDA's pool, which gives no handles. It is for large arrays, and
  // stays for the next ones.
  static constexpr std::size_t kLeastBlock = std::size_t{1} << 20;
  static constexpr std::size_t kGrain = std::size_t{2} << 20;
  struct Block {
    std::size_t size = 0;
    cudaEvent_t used = nullptr;                         // the last work with it is done
    std::optional<std::array<std::byte, 64>> handle{};  // others may have it open, so it must not be freed
  };
  void* take_block(std::size_t size, cudaStream_t stream);
  void free_blocks();
  void check_part(std::size_t size, std::size_t more);
  bool part_has(std::size_t more);
  std::uint64_t pool_bytes(cudaMemPoolAttr which) const;
  [[noreturn]] void refuse(std::size_t size, const std::string& reason = {}) const;

  const int number_;
  const pid_t process_;
  std::string name_;
  std::uint64_t place_ = 0;
  std::mutex mutex_;
  gpu::MemoryLimit limit_{};
  std::map<const void*, Block> blocks_;
  std::multimap<std::size_t, void*> free_;  // those that nobody has, by size
  SharedDevice self_{};                     // set once others may have a block open: it stays for the next arrays
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
    return device_->take(size, stream_);
  }
  void free(void* memory) noexcept override {
    if (device_->entered()) device_->give_back(memory, stream_);
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

void* CudaDevice::take(std::size_t size, cudaStream_t stream) {
  if (size >= kLeastBlock) return take_block(size, stream);
  if (limit_.limits() &&
      pool_bytes(cudaMemPoolAttrUsedMemCurrent) + size > pool_bytes(cudaMemPoolAttrReservedMemCurrent))
    check_part(size, kGrain);  // the pool takes more from the driver
  void* memory = nullptr;
  cudaError_t error = cudaMallocAsync(&memory, size, stream);
  if (error == cudaErrorMemoryAllocation) {
    free_blocks();
    error = cudaMallocAsync(&memory, size, stream);
  }
  if (error == cudaErrorMemoryAllocation) refuse(size);
  check(error, "cudaMallocAsync");
  return memory;
}

void* CudaDevice::take_block(std::size_t size, cudaStream_t stream) {
  const std::size_t rounded = (size + kGrain - 1) / kGrain * kGrain;
  {
    const std::lock_guard lock(mutex_);
    const auto fit = free_.lower_bound(rounded);
    if (fit != free_.end() && fit->first <= rounded + rounded / 4) {
      void* const memory = fit->second;
      check(cudaStreamWaitEvent(stream, blocks_.at(memory).used, 0), "cudaStreamWaitEvent");
      free_.erase(fit);
      return memory;
    }
  }
  check_part(size, rounded);
  Block block{.size = rounded};
  check(cudaEventCreateWithFlags(&block.used, cudaEventDisableTiming | cudaEventBlockingSync), "cudaEventCreate");
  void* memory = nullptr;
  cudaError_t error = cudaMalloc(&memory, rounded);
  if (error == cudaErrorMemoryAllocation) {
    free_blocks();
    error = cudaMalloc(&memory, rounded);
  }
  if (error != cudaSuccess) cudaEventDestroy(block.used);
  if (error == cudaErrorMemoryAllocation) refuse(size);
  check(error, "cudaMalloc");
  const std::lock_guard lock(mutex_);
  blocks_.emplace(memory, block);
  return memory;
}

void CudaDevice::give_back(void* memory, cudaStream_t stream) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(memory);
  if (found == blocks_.end()) {
    cudaFreeAsync(memory, stream);
  } else if (cudaEventRecord(found->second.used, stream) == cudaSuccess) {  // a GPU that has failed gives nothing back
    free_.emplace(found->second.size, memory);
  }
}

// Gives memory that is kept for later back to the driver.
void CudaDevice::free_blocks() {
  cudaGetLastError();  // the next call must not see that there was not enough
  cudaMemPool_t pool = nullptr;
  if (cudaDeviceGetDefaultMemPool(&pool, number_) == cudaSuccess) cudaMemPoolTrimTo(pool, 0);
  const std::lock_guard lock(mutex_);
  for (auto at = free_.begin(); at != free_.end();) {
    const Block& block = blocks_.at(at->second);
    if (block.handle) {
      ++at;
      continue;
    }
    cudaEventSynchronize(block.used);
    cudaEventDestroy(block.used);
    cudaFree(at->second);
    blocks_.erase(at->second);
    at = free_.erase(at);
  }
}

std::uint64_t CudaDevice::pool_bytes(cudaMemPoolAttr which) const {
  cudaMemPool_t pool = nullptr;
  std::uint64_t bytes = 0;
  check(cudaDeviceGetDefaultMemPool(&pool, number_), "cudaDeviceGetDefaultMemPool");
  check(cudaMemPoolGetAttribute(pool, which, &bytes), "cudaMemPoolGetAttribute");
  return bytes;
}

bool CudaDevice::part_has(std::size_t more) {
  std::uint64_t taken = pool_bytes(cudaMemPoolAttrReservedMemCurrent);
  const std::lock_guard lock(mutex_);
  for (const auto& [memory, block] : blocks_) taken += block.size;
  return limit_.allows(taken, more);
}

// Before `more` bytes are taken from the driver, of which the caller wants `size`.
void CudaDevice::check_part(std::size_t size, std::size_t more) {
  if (!limit_.limits() || part_has(more)) return;
  free_blocks();
  if (!part_has(more)) refuse(size, ", because this process shares it: " + limit_.text());
}

void CudaDevice::refuse(std::size_t size, const std::string& reason) const {
  cudaGetLastError();
  throw Error(ErrorKind::overloaded, name_ + " has no " + memory_text(size) + " of memory left" + reason);
}

std::optional<MemoryHandle> CudaDevice::share(const void* memory) {
  enter();
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(memory);
  if (found == blocks_.end()) return std::nullopt;
  if (!found->second.handle) {
    cudaIpcMemHandle_t handle{};
    if (cudaIpcGetMemHandle(&handle, const_cast<void*>(memory)) != cudaSuccess) {
      cudaGetLastError();
      return std::nullopt;
    }
    static_assert(sizeof handle == std::tuple_size_v<std::array<std::byte, 64>>);
    std::memcpy(found->second.handle.emplace().data(), &handle, sizeof handle);
    self_ = shared_from_this();
  }
  return MemoryHandle{.base = *found->second.handle, .offset = 0};
}

std::shared_ptr<const std::byte> CudaDevice::open(const std::array<std::byte, 64>& base) {
  enter();
  cudaIpcMemHandle_t handle{};
  std::memcpy(&handle, base.data(), sizeof handle);
  void* memory = nullptr;
  check(cudaIpcOpenMemHandle(&memory, handle, cudaIpcMemLazyEnablePeerAccess), "cudaIpcOpenMemHandle");
  return {static_cast<const std::byte*>(memory), [device = shared_from_this()](const std::byte* opened) {
            if (device->entered()) cudaIpcCloseMemHandle(const_cast<std::byte*>(opened));
          }};
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
