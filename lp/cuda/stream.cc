#include "lp/cuda/stream.h"

#include <utility>

#include "lp/cuda/ipc_memory.h"

namespace lp::cuda {

WayOut::WayOut(std::shared_ptr<Device> device)
    : device_(std::move(device)), queue_(device_->open_queue()), stage_(device_) {}

Buffer WayOut::copy(const void* from, std::size_t size, const Mark* ready) {
  Buffer bytes = Buffer::uninitialized(size);
  const std::lock_guard lock(mutex_);
  if (ready != nullptr) queue_->follow(*ready);
  stage_.to_host(*queue_, bytes.edit().data(), from, size);
  return bytes;
}

Stream::Stream(std::shared_ptr<Device> gpu)
    : queue_(gpu->open_queue()), way_out_(std::make_shared<WayOut>(gpu)), way_in_(gpu) {
  Neighbours::here()->add(gpu);
}

}  // namespace lp::cuda
