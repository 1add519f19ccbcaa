#include "lp/cuda/values.h"

#include <algorithm>

#include "lp/base/error.h"
#include "lp/cuda/ipc_memory.h"

namespace lp::cuda {

Values::OnGpu::OnGpu(Stream& stream, std::size_t size)
    : way_out(stream.way_out()), owner(stream.queue()), memory(owner->allocate(size)) {}

// A GPU that has failed gives nothing back, and needs nothing to wait for.
Values::OnGpu::~OnGpu() {
  try {
    for (const std::shared_ptr<Queue>& reader : readers) owner->follow(*reader->mark());
  } catch (const Error&) {
  }
  owner->free(memory);
}

// The owner may write there again when it has the name back.
Values::Foreign::~Foreign() {
  try {
    for (const std::shared_ptr<Queue>& reader : readers) reader->mark()->wait();
  } catch (const Error&) {
  }
}

Values::Values(std::size_t size, Buffer name) : size_(size) { foreign_.emplace(std::move(name)); }

Values::Values(std::size_t size, Stream& stream) : size_(size), place_(stream.way_out()->device()->place()) {
  copies_.push_back(std::make_unique<OnGpu>(stream, size));
}

void Values::made(Stream& stream) { copies_.front()->ready = stream.queue()->mark(); }

namespace {

void add_reader(std::vector<std::shared_ptr<Queue>>& readers, const std::shared_ptr<Queue>& reader) {
  if (std::find(readers.begin(), readers.end(), reader) == readers.end()) readers.push_back(reader);
}

}  // namespace

const void* Values::on(Stream& stream) {
  const std::lock_guard lock(mutex_);
  const std::shared_ptr<Device>& device = stream.way_out()->device();
  for (const auto& copy : copies_) {
    if (copy->way_out->device() != device) continue;
    if (copy->owner == stream.queue()) return copy->memory;
    stream.queue()->follow(*copy->ready);
    add_reader(copy->readers, stream.queue());
    return copy->memory;
  }
  if (foreign_ && Neighbours::read(foreign_->name).place == device->place()) {
    const std::byte* const memory = foreign_memory();
    add_reader(foreign_->readers, stream.queue());
    return memory;
  }
  const Buffer bytes = host_locked();
  auto copy = std::make_unique<OnGpu>(stream, size_);
  stream.way_in().to_device(*stream.queue(), copy->memory, bytes.data(), size_);
  copy->ready = stream.queue()->mark();
  return copies_.emplace_back(std::move(copy))->memory;
}

// Its owner has named it when it was made, so nobody waits.
const std::byte* Values::foreign_memory() {
  if (foreign_->memory == nullptr) foreign_->memory = Neighbours::here()->open(Neighbours::read(foreign_->name));
  return foreign_->memory.get();
}

const Buffer& Values::host_locked() {
  if (host_) return *host_;
  if (!copies_.empty()) {
    const OnGpu& there = *copies_.front();
    host_ = there.way_out->copy(there.memory, size_, there.ready.get());
  } else {
    WayOut way(Neighbours::here()->device(Neighbours::read(foreign_->name).place));
    host_ = way.copy(foreign_memory(), size_, nullptr);
  }
  return *host_;
}

Buffer Values::host() {
  const std::lock_guard lock(mutex_);
  return host_locked();
}

Buffer Values::name(const MessageReceiver& receiver) {
  const std::lock_guard lock(mutex_);
  if (place_ == 0 || size_ <= ValuesName::kFrame || !receiver.opens(place_)) return {};
  const OnGpu& there = *copies_.front();
  Buffer name = Neighbours::name(*there.way_out->device(), there.memory, shared_from_this());
  if (!name.empty()) there.ready->wait();
  return name;
}

}  // namespace lp::cuda
