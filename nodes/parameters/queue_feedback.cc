#include "nodes/parameters/queue_feedback.h"

#include <cstddef>
#include <string>

#include "lp/base/enums.h"
#include "lp/base/error.h"

namespace lp {

QueueFeedback::QueueFeedback(kernels::Queue& queue, const CompressionOptions& options, std::uint64_t size)
    : queue_(queue), options_(options), residual_(queue, size) {
  check(options);
  if (options.kind == Compression::one_bit) {
    bits_ = kernels::Room<std::uint64_t>(queue, kernels::words_of_bits(size));
    means_ = kernels::Room<float>(queue, 2 * kernels::columns_of(size, options.column));
  } else if (options.kind == Compression::top_k) {
    if (size > 0) selection_.emplace(queue, size, values_kept(size, options.share));
  } else {
    throw_failed("a gradient in the memory of a queue cannot be compressed by " + std::string(enum_name(options.kind)) +
                 ": give one_bit or top_k");
  }
}

Encoded QueueFeedback::encode(const float* gradient, std::uint64_t step) {
  if (step_ == step) return encoded_;
  if (step_ && step < *step_) restore({});
  queue_.run(kernels::AddClipped{
      .values = gradient, .clip = options_.clip, .residual = residual_.data(), .size = residual_.size()});
  encoded_ = options_.kind == Compression::one_bit ? one_bit() : top_k();
  step_ = step;
  return encoded_;
}

Encoded QueueFeedback::one_bit() {
  const std::uint64_t size = residual_.size();
  const std::uint32_t column = options_.column;
  Encoded out{.compression = Compression::one_bit, .size = size, .column = column};
  out.values = Array<float>::uninitialized(means_.size());
  out.bits = Array<std::uint64_t>::uninitialized(bits_.size());
  queue_.run(kernels::OneBitBits{.values = residual_.data(), .size = size, .bits = bits_.data()});
  queue_.run(kernels::OneBitMeans{.values = residual_.data(), .size = size, .column = column, .means = means_.data()});
  queue_.run(kernels::OneBitSubtract{
      .means = means_.data(), .bits = bits_.data(), .column = column, .residual = residual_.data(), .size = size});
  means_.read(out.values.edit());
  bits_.read(out.bits.edit());
  queue_.wait();
  return out;
}

Encoded QueueFeedback::top_k() {
  Encoded out{.compression = Compression::top_k, .size = residual_.size()};
  if (!selection_) return out;
  selection_->run(residual_.data());
  const std::size_t kept = selection_->kept().size();
  queue_.run(kernels::AddAtPositions{.positions = selection_->positions().data(),
                                     .kept = selection_->kept().data(),
                                     .count = kept,
                                     .sign = -1,
                                     .to = residual_.data()});
  out.indices = Array<std::uint32_t>::uninitialized(kept);
  out.values = Array<float>::uninitialized(kept);
  selection_->positions().read(out.indices.edit());
  selection_->kept().read(out.values.edit());
  queue_.wait();
  return out;
}

std::vector<float> QueueFeedback::residual() const {
  std::vector<float> out(residual_.size());
  residual_.read(out);
  queue_.wait();
  return out;
}

void QueueFeedback::restore(std::span<const float> residual) {
  if (!residual.empty() && residual.size() != residual_.size()) {
    throw_failed("a residual of " + std::to_string(residual.size()) + " values for gradients of " +
                 std::to_string(residual_.size()));
  }
  std::vector<float> values(residual.begin(), residual.end());
  values.resize(residual_.size());
  residual_.write(values);
  step_.reset();
}

}  // namespace lp
