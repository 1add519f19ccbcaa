#include "lp/cuda/values.h"

#include <algorithm>

#include "lp/base/error.h"

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

Values::Values(std::size_t size, Stream& stream) : size_(size) {
  copies_.push_back(std::make_unique<OnGpu>(stream, size));
}

void Values::made(Stream& stream) { copies_.front()->ready = stream.queue()->mark(); }

const void* Values::on(Stream& stream) {
  const std::lock_guard lock(mutex_);
  const std::shared_ptr<Device>& device = stream.way_out()->device();
  for (const auto& copy : copies_) {
    if (copy->way_out->device() != device) continue;
    if (copy->owner == stream.queue()) return copy->memory;
    stream.queue()->follow(*copy->ready);
    if (std::find(copy->readers.begin(), copy->readers.end(), stream.queue()) == copy->readers.end()) {
      copy->readers.push_back(stream.queue());
    }
    return copy->memory;
  }
  if (!host_) {
    const OnGpu& there = *copies_.front();
    host_ = there.way_out->copy(there.memory, size_, *there.ready);
  }
  auto copy = std::make_unique<OnGpu>(stream, size_);
  stream.way_in().to_device(*stream.queue(), copy->memory, host_->data(), size_);
  copy->ready = stream.queue()->mark();
  return copies_.emplace_back(std::move(copy))->memory;
}

Buffer Values::host() {
  const std::lock_guard lock(mutex_);
  if (!host_) {
    const OnGpu& there = *copies_.front();
    host_ = there.way_out->copy(there.memory, size_, *there.ready);
  }
  return *host_;
}

}  // namespace lp::cuda
