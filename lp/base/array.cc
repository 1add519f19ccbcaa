#include "lp/base/array.h"

#include <cstdint>
#include <cstring>
#include <new>

#include "lp/base/recycle.h"
#include "lp/base/shared_heap.h"

namespace lp {

Buffer::Block* Buffer::new_block(std::size_t size) { return ::new (take_memory(size)) Block{.size = size}; }

// Makes one allocation: the block, then the data at the next aligned address. (An aligned operator new costs four times
// as much.)
Buffer Buffer::uninitialized(std::size_t size) {
  constexpr std::size_t kMore = sizeof(Block) + kAlignment - 1;
  if (size == 0) return {};
  if (size > static_cast<std::size_t>(PTRDIFF_MAX) - kMore) throw std::bad_alloc();
  if (SharedHeap* const heap = size < SharedHeap::kSmallest ? nullptr : SharedHeap::current(); heap != nullptr) {
    if (std::byte* const bytes = heap->allocate(size); bytes != nullptr) {
      Block* const block = new_block(sizeof(Block));
      block->shared = bytes;
      block->shared_size = size;
      return {block, bytes, size};
    }
  }
  Block* const block = new_block(kMore + size);
  auto* const behind = reinterpret_cast<std::byte*>(block + 1);
  return {block, behind + (-reinterpret_cast<std::uintptr_t>(behind) % kAlignment), size};
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
  Block* const block = new_block(sizeof(Block));
  block->release = std::move(release);
  // The bytes are never written through this pointer: edit() copies bytes that have a release function.
  return {block, const_cast<std::byte*>(static_cast<const std::byte*>(data)), size};
}

Buffer Buffer::naming(Buffer name, std::shared_ptr<Elsewhere> bytes) {
  const std::byte* const data = name.data();
  const std::size_t size = name.size();
  Buffer named = wrap(data, size, [held = std::move(name)] {});
  named.block_->elsewhere = std::move(bytes);
  return named;
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
  if (!edits_in_place() && block_->shared != nullptr) SharedHeap::current()->take_back();
  if (!edits_in_place()) *this = copy_of(bytes());
  return {data_, size_};
}

void Buffer::drop() noexcept {
  if (block_->owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (block_->release) block_->release();
  if (block_->shared != nullptr) SharedHeap::current()->free(block_->shared, block_->shared_size);
  const std::size_t size = block_->size;
  block_->~Block();
  give_memory(block_, size);
}

}  // namespace lp
