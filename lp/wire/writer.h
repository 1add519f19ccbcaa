#pragma once
// Writes values as bytes (README.md has the format). A Writer makes one message; one thread uses it at a time.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "lp/base/array.h"
#include "lp/wire/message.h"
#include "lp/wire/sendable.h"

namespace lp {

static_assert(std::endian::native == std::endian::little, "lp: the wire format is little-endian, and copied as it is");

class Writer {
 public:
  // The first `front` bytes of the body are zeros, left for a head that is written later.
  explicit Writer(std::size_t front = 0);

  // Throws Error(failed) for a value that no Reader would accept: one nested deeper than kMaxNesting, or a valueless
  // variant.
  template <Sendable T>
  void value(const T& value);

  // For this receiver, frames may name bytes that are elsewhere. Without one, the bytes themselves are sent.
  void set_receiver(const MessageReceiver* receiver) { receiver_ = receiver; }
  const MessageReceiver* receiver() const { return receiver_; }

  // Returns the written message. The Writer is spent.
  Message take();

  // Codecs consist of the functions from here on.
  template <class T>
  void number(T value) {
    std::memcpy(room(sizeof value), &value, sizeof value);
  }
  void count(std::size_t count) { number(std::uint64_t{count}); }
  void bytes(const void* data, std::size_t size) {
    if (size > 0) std::memcpy(room(size), data, size);
  }
  // Writes the bytes of an array whose count was written: into the body, or as a frame if is_frame().
  void array(const void* data, std::size_t size);
  void array(const Buffer& buffer);  // the frame shares the buffer
  // Writes the name of bytes elsewhere as a frame, if the receiver opens their memory: returns false if it does not.
  bool name(const Buffer& name);
  // Every array frame that follows keeps `owner` alive.
  void keep(std::shared_ptr<const void> owner) { owner_ = std::move(owner); }
  std::size_t written() const { return static_cast<std::size_t>(at_ - body_.data()); }

  // One nested value. A value that lies too deep is refused.
  class Nested {
   public:
    explicit Nested(Writer& writer) : writer_(writer) {
      if (++writer.depth_ > kMaxNesting) too_deep();
    }
    ~Nested() { --writer_.depth_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    [[noreturn]] static void too_deep();
    Writer& writer_;
  };

 private:
  std::byte* room(std::size_t size) {
    if (static_cast<std::size_t>(end_ - at_) < size) grow(size);
    std::byte* at = at_;
    at_ += size;
    return at;
  }
  void grow(std::size_t size);

  Buffer body_;
  std::byte* at_ = nullptr;   // position of the next byte
  std::byte* end_ = nullptr;  // end of the room in body_
  std::vector<Buffer> arrays_;
  std::shared_ptr<const void> owner_;
  const MessageReceiver* receiver_ = nullptr;
  int depth_ = 0;
};

}  // namespace lp
