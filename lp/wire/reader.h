#pragma once
// Reads values from bytes (README.md has the format). Nothing in a message is trusted: every length is compared with
// the bytes that are really there before memory is taken. A malformed message throws Error(failed) with the problem,
// the place and the type. A Reader reads one message, which must outlive it; one thread uses it at a time.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include "lp/base/array.h"
#include "lp/base/names.h"
#include "lp/wire/message.h"
#include "lp/wire/sendable.h"

namespace lp {

class Reader {
 public:
  explicit Reader(std::span<const std::byte> body, std::span<const Buffer> arrays = {})
      : body_(body), arrays_(arrays) {}

  template <Sendable T>
  T value();

  // Throws if bytes or arrays are left over.
  void finish() const;

  // Codecs consist of the functions from here on.
  template <class T>
  T number() {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>, "lp: read a number, or a boolean()");
    T value;
    std::memcpy(&value, bytes(sizeof value).data(), sizeof value);
    return value;
  }
  bool boolean() {
    const auto byte = number<std::uint8_t>();
    if (byte > 1) fail("a bool is neither 0 nor 1");
    return byte == 1;
  }
  // Reads how many values follow, each of at least one byte. The result never exceeds the bytes that are left.
  std::size_t count() {
    const auto count = number<std::uint64_t>();
    if (count > left()) fail("more values are announced than there are bytes");
    return static_cast<std::size_t>(count);
  }
  std::span<const std::byte> bytes(std::size_t size) {
    if (size > left()) fail("it ends too early");
    const auto bytes = body_.subspan(at_, size);
    at_ += size;
    return bytes;
  }
  // Reads the bytes of an array of `count` items, from the body or from a frame. They may lie at any address.
  std::span<const std::byte> array(std::uint64_t count, std::size_t item_size);
  // Like array(), for keeping: returns the frame itself if it is aligned, otherwise an aligned copy.
  Buffer shared_array(std::uint64_t count, std::size_t item_size, std::size_t alignment);
  // Returns the next frame, which must have `size` bytes, if it is the name of an array of `count` items that lies
  // elsewhere, and not the array: then it is smaller. Else returns nothing, and the array can be read.
  Buffer name(std::uint64_t count, std::size_t item_size, std::size_t size);
  std::size_t left() const { return body_.size() - at_; }

  [[noreturn]] void fail(std::string_view what) const;

  // One nested value, which errors name. A value that lies too deep is refused.
  class Nested {
   public:
    using TypeName = std::string_view();  // internal::pretty_type<T>, which is called only when the name is needed

    Nested(Reader& reader, TypeName* type) : reader_(reader), outer_(reader.innermost_), type_(type) {
      reader.innermost_ = this;
      if (++reader.depth_ > kMaxNesting) reader.fail("its parts are nested too deeply");
    }
    ~Nested() {
      reader_.innermost_ = outer_;
      --reader_.depth_;
    }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    friend class Reader;
    Reader& reader_;
    const Nested* outer_;
    TypeName* type_;
  };

 private:
  const Buffer& next_frame(std::size_t size);

  std::span<const std::byte> body_;
  std::span<const Buffer> arrays_;
  std::size_t at_ = 0;
  std::size_t next_array_ = 0;
  const Nested* innermost_ = nullptr;
  int depth_ = 0;
};

}  // namespace lp
