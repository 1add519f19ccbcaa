#pragma once
// Bytes and arrays that are shared instead of copied. Big values consist of them, in memory and on the wire.
//
// Buffer and Array<T> are values: they copy in O(1), the last owner frees the memory, and any thread may copy, read and
// drop its own copy. Shared bytes are immutable: edit() first makes the caller their only owner.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "lp/base/function.h"

namespace lp {

// Bytes, 64-byte-aligned if lp allocated them. An empty Buffer owns nothing. Big buffers live in the SharedHeap, if the
// process has one.
class Buffer {
 public:
  static constexpr std::size_t kAlignment = 64;

  Buffer() = default;
  // Returns `size` bytes that the caller writes through edit(). Throws std::bad_alloc, as all functions here that
  // allocate.
  static Buffer uninitialized(std::size_t size);
  static Buffer zeroed(std::size_t size);
  static Buffer copy_of(std::span<const std::byte> bytes);
  // Wraps bytes of another owner, for instance a received frame, without a copy. The last Buffer calls `release`, in
  // its own thread. The bytes are never written: edit() copies them.
  static Buffer wrap(const void* data, std::size_t size, Function<void()> release);

  Buffer(const Buffer& other) noexcept : block_(other.block_), data_(other.data_), size_(other.size_) { hold(); }
  Buffer(Buffer&& other) noexcept
      : block_(std::exchange(other.block_, nullptr)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer other) noexcept {
    swap(other);
    return *this;
  }
  ~Buffer() {
    if (block_ != nullptr) drop();
  }

  const std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
  bool aligned_to(std::size_t alignment) const noexcept;
  // Whether lp allocated the bytes in this process, so that nobody waits for their release.
  bool owned() const noexcept { return block_ == nullptr || !block_->release; }

  // Bytes in a memory that not every process has, such as a GPU's. Any thread.
  class Elsewhere {
   public:
    virtual ~Elsewhere() = default;
    // The number of that memory, which is the same in all processes of this host.
    virtual std::uint64_t place() const noexcept = 0;
    // The bytes in the memory of this process. Throws Error when they cannot be had.
    virtual Buffer here() = 0;
  };
  // Names bytes elsewhere: `name` is for processes of this host that can open their memory (SharedHeap::announce). For
  // others they are replaced by those of here() before they are sent.
  static Buffer naming(Buffer name, std::shared_ptr<Elsewhere> bytes);
  // Null: these are the bytes.
  std::shared_ptr<Elsewhere> elsewhere() const noexcept { return block_ == nullptr ? nullptr : block_->elsewhere; }

  // Returns another owner of the `size` bytes from `offset` on, which must be there.
  Buffer slice(std::size_t offset, std::size_t size) const noexcept;

  // Keeps the first `size` bytes. The buffer must have at least as many.
  void shrink(std::size_t size) noexcept { size_ = size; }

  // Whether edit() changes the bytes where they are.
  bool edits_in_place() const noexcept {
    // acquire: all reads by former owners happen before the writes
    return block_ == nullptr || (!block_->release && block_->owners.load(std::memory_order_acquire) == 1);
  }
  // Returns the bytes for writing: nobody else sees them. Copies them first if they are shared or not lp's own.
  std::span<std::byte> edit();

  void swap(Buffer& other) noexcept {
    std::swap(block_, other.block_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

 private:
  struct Block {
    std::atomic<std::size_t> owners{1};
    std::size_t size = 0;         // size of this block, with the bytes if they follow it
    std::byte* shared = nullptr;  // the bytes, if they are in the SharedHeap
    std::size_t shared_size = 0;
    Function<void()> release{};  // set if the bytes belong to another owner
    std::shared_ptr<Elsewhere> elsewhere{};
  };
  static Block* new_block(std::size_t size);

  Buffer(Block* block, std::byte* data, std::size_t size) noexcept : block_(block), data_(data), size_(size) {}
  void hold() const noexcept {
    if (block_ != nullptr) block_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  void drop() noexcept;

  Block* block_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// An item of an Array: its bytes mean the same after memcpy.
template <class T>
concept ArrayItem = std::is_trivially_copyable_v<T> && std::is_same_v<T, std::remove_cvref_t<T>> &&
                        alignof(T) <= Buffer::kAlignment
                    && !std::is_array_v<T>;

// `size` values of T over a Buffer. The values are 64-byte-aligned if lp allocated them; a received array is aligned
// for T.
template <ArrayItem T>
class Array {
 public:
  using value_type = T;

  Array() = default;
  // `size` zeros (bytes of zero).
  explicit Array(std::size_t size) : buffer_(Buffer::zeroed(byte_size(size))) {}
  // Returns `size` values that the caller writes through edit().
  static Array uninitialized(std::size_t size) { return Array(Buffer::uninitialized(byte_size(size))); }
  static Array copy_of(std::span<const T> values) { return Array(Buffer::copy_of(std::as_bytes(values))); }
  // Takes the values whose bytes `buffer` holds. It must be aligned for T, and its size must be a multiple of T's.
  explicit Array(Buffer buffer) noexcept : buffer_(std::move(buffer)) {}

  const T* data() const noexcept { return reinterpret_cast<const T*>(buffer_.data()); }
  std::size_t size() const noexcept { return buffer_.size() / sizeof(T); }
  bool empty() const noexcept { return buffer_.empty(); }
  const T* begin() const noexcept { return data(); }
  const T* end() const noexcept { return data() + size(); }
  const T& operator[](std::size_t i) const noexcept { return data()[i]; }
  std::span<const T> span() const noexcept { return {data(), size()}; }
  operator std::span<const T>() const noexcept { return span(); }
  const Buffer& buffer() const noexcept { return buffer_; }

  // Returns the values for writing: nobody else sees them. Copies them first if they are shared.
  std::span<T> edit() {
    const std::span<std::byte> bytes = buffer_.edit();
    return {reinterpret_cast<T*>(bytes.data()), size()};
  }

  // Compares values, not addresses.
  friend bool operator==(const Array& a, const Array& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!(a[i] == b[i])) return false;
    }
    return true;
  }

 private:
  static std::size_t byte_size(std::size_t size) {
    const std::size_t most = static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(T);
    return (size <= most ? size : most) * sizeof(T);  // too many for any machine: the allocation throws bad_alloc
  }

  Buffer buffer_;
};

}  // namespace lp
