#pragma once
// A "GPU" that the processor executes. It does nothing before somebody waits for it, and then only the work that must
// come before: so a missing mark shows as wrong bytes. Memory that was given back has other bytes. Owned by its test;
// thread-safe.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/shared_memory.h"
#include "lp/base/text.h"
#include "lp/cuda/device.h"
#include "lp/cuda/stream.h"

namespace lp::test {

class ProcessorQueue;

class ProcessorDevice final : public cuda::Device, public std::enable_shared_from_this<ProcessorDevice> {
 public:
  static constexpr std::size_t kLeastShared = std::size_t{300} << 10;  // bytes

  explicit ProcessorDevice(std::string name = "GPU-test", std::size_t memory = std::size_t{1} << 30)
      : name_(std::move(name)), memory_(memory) {}

  const std::string& name() const noexcept override { return name_; }
  std::uint64_t place() const noexcept override { return std::hash<std::string>()(name_) | 1; }
  std::optional<cuda::MemoryHandle> share(const void* memory) override;
  std::shared_ptr<const std::byte> open(const std::array<std::byte, 64>& base) override;
  std::unique_ptr<cuda::Queue> open_queue() override;
  std::unique_ptr<cuda::Pinned> pin(std::size_t size) override;

  // From now on the GPU does no work, as one that has fallen off the bus.
  void fail() { failed_ = true; }
  std::size_t used() const { return used_; }  // bytes that were taken, and not yet given back
  int copies() const { return copies_; }      // copies from and to the host
  int opened() const { return opened_; }      // pieces of memory of other processes that are open
  int opens() const { return opens_; }        // how often one was opened
  // From now on it names no memory, as in a container.
  void refuse_to_share() { shares_ = false; }
  // From now on it opens no memory of other processes.
  void refuse_to_open() { opens_memory_ = false; }

 private:
  friend class ProcessorQueue;
  void check() const {
    if (failed_) throw_failed(name_ + ": it has disappeared");
  }

  const std::string name_;
  const std::size_t memory_;
  std::recursive_mutex mutex_;
  std::size_t used_ = 0;
  int copies_ = 0;
  std::atomic<int> opened_ = 0;
  std::atomic<int> opens_ = 0;
  bool shares_ = true;
  bool opens_memory_ = true;
  bool failed_ = false;
  struct Block {
    SharedMemory memory;
    std::uint64_t number;
  };
  std::map<const void*, Block> blocks_;
  std::uint64_t next_block_ = 0;
};

class ProcessorQueue final : public cuda::Queue {
 public:
  explicit ProcessorQueue(std::shared_ptr<ProcessorDevice> gpu) : gpu_(std::move(gpu)) {}
  ~ProcessorQueue() override { run(work_->end()); }
  ProcessorQueue(const ProcessorQueue&) = delete;
  ProcessorQueue& operator=(const ProcessorQueue&) = delete;

  void put(std::function<void()> task) {
    const std::lock_guard lock(gpu_->mutex_);
    gpu_->check();
    work_->tasks.push_back(std::move(task));
  }
  void* allocate(std::size_t size) override {
    const std::lock_guard lock(gpu_->mutex_);
    gpu_->check();
    if (gpu_->used_ + size > gpu_->memory_) run(work_->end());  // memory that this queue gives back can be had
    if (gpu_->used_ + size > gpu_->memory_) {
      throw Error(ErrorKind::overloaded, gpu_->name_ + " has no " + memory_text(size) + " of memory left");
    }
    gpu_->used_ += size;
    SharedMemory block = SharedMemory::create("test-gpu", size);
    std::byte* const memory = block.data();
    gpu_->blocks_.emplace(memory, ProcessorDevice::Block{std::move(block), gpu_->next_block_++});
    return memory;
  }
  void free(void* memory) noexcept override {
    const std::lock_guard lock(gpu_->mutex_);
    work_->tasks.push_back([gpu = gpu_.get(), memory] {
      const auto at = gpu->blocks_.find(memory);
      std::memset(memory, 0xEE, at->second.memory.size());
      gpu->used_ -= at->second.memory.size();
      gpu->blocks_.erase(at);
    });
  }
  void to_device(void* to, const void* host, std::size_t size) override { transfer(to, host, size); }
  void to_host(void* host, const void* from, std::size_t size) override { transfer(host, from, size); }
  void copy(void* to, const void* from, std::size_t size) override {
    put([to, from, size] { std::memcpy(to, from, size); });
  }
  std::shared_ptr<const cuda::Mark> mark() override {
    const std::lock_guard lock(gpu_->mutex_);
    gpu_->check();
    return std::make_shared<const Reached>(gpu_, work_, work_->end());
  }
  void follow(const cuda::Mark& mark) override {
    put([reached = static_cast<const Reached&>(mark)] { reached.work->run(reached.end); });
  }
  void wait() override { mark()->wait(); }
  void* native() const override { return const_cast<ProcessorQueue*>(this); }

 private:
  struct Work {
    std::deque<std::function<void()>> tasks{};
    std::size_t done = 0;
    std::size_t end() const { return done + tasks.size(); }
    void run(std::size_t end) {
      while (done < end) {
        const std::function<void()> task = std::move(tasks.front());
        tasks.pop_front();
        ++done;
        task();
      }
    }
  };
  struct Reached final : cuda::Mark {
    Reached(std::shared_ptr<ProcessorDevice> of, std::shared_ptr<Work> in, std::size_t at)
        : gpu(std::move(of)), work(std::move(in)), end(at) {}
    void wait() const override {
      const std::lock_guard lock(gpu->mutex_);
      gpu->check();
      work->run(end);
    }
    std::shared_ptr<ProcessorDevice> gpu;
    std::shared_ptr<Work> work;
    std::size_t end;
  };

  void run(std::size_t end) {
    const std::lock_guard lock(gpu_->mutex_);
    work_->run(end);
  }
  void transfer(void* to, const void* from, std::size_t size) {
    put([gpu = gpu_.get(), to, from, size] {
      std::memcpy(to, from, size);
      ++gpu->copies_;
    });
  }

  const std::shared_ptr<ProcessorDevice> gpu_;
  const std::shared_ptr<Work> work_ = std::make_shared<Work>();
};

inline std::optional<cuda::MemoryHandle> ProcessorDevice::share(const void* memory) {
  const std::lock_guard lock(mutex_);
  const auto block = blocks_.find(memory);
  if (!shares_ || block->second.memory.size() < kLeastShared) return std::nullopt;
  cuda::MemoryHandle handle;
  const std::string path = block->second.memory.path();
  std::memcpy(handle.base.data(), path.c_str(), path.size() + 1);
  // Paths come again; a name of memory is of that memory alone.
  std::memcpy(handle.base.data() + handle.base.size() - sizeof block->second.number, &block->second.number,
              sizeof block->second.number);
  return handle;
}

inline std::shared_ptr<const std::byte> ProcessorDevice::open(const std::array<std::byte, 64>& base) {
  if (!opens_memory_) throw_failed(name_ + ": the memory of another process is refused");
  const char* const path = reinterpret_cast<const char*>(base.data());
  auto memory =
      std::make_shared<const SharedMemory>(SharedMemory::open(path, SharedMemory::Access::read, std::size_t{1} << 40));
  ++opened_;
  ++opens_;
  return {memory->data(), [memory, gpu = shared_from_this()](const std::byte*) { --gpu->opened_; }};
}

inline std::unique_ptr<cuda::Queue> ProcessorDevice::open_queue() {
  check();
  return std::make_unique<ProcessorQueue>(shared_from_this());
}

inline std::unique_ptr<cuda::Pinned> ProcessorDevice::pin(std::size_t size) {
  struct Memory final : cuda::Pinned {
    explicit Memory(std::size_t bytes) : memory(std::make_unique<std::byte[]>(bytes)) {}
    std::byte* data() const noexcept override { return memory.get(); }
    std::unique_ptr<std::byte[]> memory;
  };
  return std::make_unique<Memory>(size);
}

// Puts a "kernel" into the stream of such a GPU.
inline void put_kernel(const cuda::Stream& stream, std::function<void()> kernel) {
  static_cast<ProcessorQueue*>(stream.native())->put(std::move(kernel));
}

}  // namespace lp::test
