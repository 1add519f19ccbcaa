#include "lp/cuda/ipc_memory.h"

#include <cstring>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/shared_heap.h"

namespace lp::cuda {

const std::shared_ptr<Neighbours>& Neighbours::here() {
  static const auto neighbours = std::make_shared<Neighbours>();
  return neighbours;
}

void Neighbours::add(const std::shared_ptr<Device>& device) {
  bool opens = false;
  {
    const std::lock_guard lock(mutex_);
    devices_[device->place()] = device;
    opens = !refused_.contains(device->place());
  }
  SharedHeap* const heap = SharedHeap::current();
  if (heap == nullptr) return;  // nobody is near
  if (!watches_.exchange(true)) {
    heap->watch_neighbours([self = here()](std::uint64_t owner) { self->forget(owner); });
  }
  if (opens) heap->announce(device->place());
}

std::shared_ptr<Device> Neighbours::device(std::uint64_t place) {
  const std::lock_guard lock(mutex_);
  const auto found = devices_.find(place);
  std::shared_ptr<Device> device = found == devices_.end() ? nullptr : found->second.lock();
  if (device == nullptr) throw_failed("an array lies on a GPU that this process does not use any more");
  return device;
}

Buffer Neighbours::name(Device& device, const void* memory, const std::shared_ptr<Buffer::Elsewhere>& values) {
  SharedHeap* const heap = SharedHeap::current();
  if (heap == nullptr) return {};
  const std::optional<MemoryHandle> handle = device.share(memory);
  if (!handle) return {};
  Buffer frame = Buffer::uninitialized(ValuesName::kFrame);
  if (!heap->contains(frame.data())) return {};  // it is full
  const ValuesName name{.place = device.place(), .owner = heap->owner(), .memory = *handle};
  std::memcpy(frame.edit().data(), &name, sizeof name);
  return Buffer::naming(std::move(frame), values);
}

ValuesName Neighbours::read(const Buffer& frame) {
  ValuesName name;
  std::memcpy(&name, frame.data(), sizeof name);
  return name;
}

std::shared_ptr<const std::byte> Neighbours::open(const ValuesName& name) {
  const std::shared_ptr<Device> gpu = device(name.place);
  const std::lock_guard lock(mutex_);
  const Key key{name.place, name.memory.base};
  auto found = opened_.find(key);
  if (found == opened_.end()) {
    try {
      found = opened_.emplace(key, Opened{.owner = name.owner, .memory = gpu->open(name.memory.base)}).first;
    } catch (const Error&) {
      refused_.insert(name.place);
      if (SharedHeap* const heap = SharedHeap::current(); heap != nullptr) heap->withdraw(name.place);
      throw;
    }
  }
  const std::shared_ptr<const std::byte>& memory = found->second.memory;
  return {memory, memory.get() + name.memory.offset};
}

void Neighbours::forget(std::uint64_t owner) {
  std::vector<std::shared_ptr<const std::byte>> closed;  // without the lock
  const std::lock_guard lock(mutex_);
  for (auto at = opened_.begin(); at != opened_.end();) {
    if (at->second.owner != owner) {
      ++at;
      continue;
    }
    closed.push_back(std::move(at->second.memory));
    at = opened_.erase(at);
  }
}

}  // namespace lp::cuda
