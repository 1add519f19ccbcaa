#include "lp/base/array.h"

#include <cstdint>
#include <new>

namespace lp {
namespace {

constexpr std::align_val_t kAlign{Buffer::kAlignment};

}  // namespace

// One allocation: the block in the first 64 bytes, the data behind it.
Buffer Buffer::uninitialized(std::size_t size) {
  static_assert(sizeof(Block) <= 2 * kAlignment);
  constexpr std::size_t kHead = (sizeof(Block) + kAlignment - 1) / kAlignment * kAlignment;
  if (size == 0) return {};
  if (size > static_cast<std::size_t>(PTRDIFF_MAX) - kHead) throw std::bad_alloc();
  auto* memory = static_cast<std::byte*>(::operator new(kHead + size, kAlign));
  return {::new (static_cast<void*>(memory)) Block, memory + kHead, size};
}

Buffer Buffer::zeroed(std::size_t size) {
  Buffer buffer = uninitialized(size);
  if (size > 0) std::memset(buffer.data_, 0, size);
  return buffer;
}

Buffer Buffer::copy_of(std::span<const std::byte> bytes) {
  Buffer buffer = uninitialized(bytes.size());
  if (!bytes.empty()) std::memcpy(buffer.data_, bytes.data(), bytes.size());
  return buffer;
}

Buffer Buffer::wrap(const void* data, std::size_t size, Function<void()> release) {
  auto* memory = ::operator new(sizeof(Block), kAlign);
  auto* block = ::new (memory) Block{.release = std::move(release)};
  // Never written through: edit() copies what has a release function.
  return {block, const_cast<std::byte*>(static_cast<const std::byte*>(data)), size};
}

bool Buffer::aligned_to(std::size_t alignment) const noexcept {
  return reinterpret_cast<std::uintptr_t>(data_) % alignment == 0;
}

Buffer Buffer::slice(std::size_t offset, std::size_t size) const noexcept {
  if (size == 0) return {};
  hold();
  return {block_, data_ + offset, size};
}

std::span<std::byte> Buffer::edit() {
  // acquire: what former owners read happens before we write
  const bool mine = block_ == nullptr || (!block_->release && block_->owners.load(std::memory_order_acquire) == 1);
  if (!mine) *this = copy_of(bytes());
  return {data_, size_};
}

void Buffer::drop() noexcept {
  if (block_->owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (block_->release) block_->release();
  block_->~Block();
  ::operator delete(static_cast<void*>(block_), kAlign);
}

}  // namespace lp
