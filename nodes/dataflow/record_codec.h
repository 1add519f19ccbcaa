#pragma once
// Records as bytes, one after the other, on their way between stages. A record is a number, a text, an aggregate, a
// pair, a tuple, a vector or an optional of records, or any other type that lp can send. A std::string_view that is
// read back refers to the bytes. Plain numbers are copied as they are. Pure, except that a RecordWriter belongs to its
// user; one thread.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "lp/base/array.h"
#include "lp/base/error.h"
#include "lp/base/fields.h"
#include "lp/wire/codec.h"
#include "nodes/dataflow/key_codec.h"

namespace lp::dataflow {

// Bytes that grow, in one array that can be sent without a copy.
class RecordWriter {
 public:
  std::size_t size() const { return used_; }
  bool empty() const { return used_ == 0; }
  void bytes(const void* data, std::size_t size) {
    char* const at = room(size);
    if (size > 0) std::memcpy(at, data, size);
  }
  template <class N>
  void number(N number) {
    std::memcpy(room(sizeof(number)), &number, sizeof(number));
  }
  void text(std::string_view text) {
    if (text.size() > UINT32_MAX) too_long(text.size());
    number(static_cast<std::uint32_t>(text.size()));
    bytes(text.data(), text.size());
  }
  std::string_view view() const { return {begin_, used_}; }
  void clear() { used_ = 0; }
  // The bytes so far. The writer is empty again, and takes `capacity` bytes before it grows.
  Array<std::byte> take(std::size_t capacity);

 private:
  char* room(std::size_t size) {
    if (size > capacity_ - used_) [[unlikely]] {
      grow(size);
    }
    char* const at = begin_ + used_;
    used_ += size;
    return at;
  }
  void grow(std::size_t size);
  [[noreturn]] static void too_long(std::size_t size);

  Buffer block_{};
  char* begin_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t used_ = 0;
};

class RecordBytes {
 public:
  explicit RecordBytes(std::string_view bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}
  explicit RecordBytes(const Array<std::byte>& bytes)
      : RecordBytes(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size())) {}

  bool empty() const { return at_ == end_; }
  std::string_view rest() const { return {at_, static_cast<std::size_t>(end_ - at_)}; }
  std::string_view bytes(std::size_t size) {
    if (size > static_cast<std::size_t>(end_ - at_)) [[unlikely]] {
      cut_off();
    }
    const std::string_view out(at_, size);
    at_ += size;
    return out;
  }
  template <class N>
  N number() {
    N out;
    std::memcpy(&out, bytes(sizeof(N)).data(), sizeof(N));
    return out;
  }
  std::string_view text() { return bytes(number<std::uint32_t>()); }

 private:
  [[noreturn]] static void cut_off();
  const char* at_;
  const char* end_;
};

// A record of another type, through lp's own codecs.
void write_message(RecordWriter& out, const Message& message);
Message read_message(RecordBytes& in);

template <class T>
struct RecordCodec;

template <class T>
void write_record(RecordWriter& out, const T& record) {
  RecordCodec<T>::write(out, record);
}
template <class T>
T read_record(RecordBytes& in) {
  return RecordCodec<T>::read(in);
}

namespace internal {

template <class T>
inline constexpr bool kIsTuple = false;
template <class A, class B>
inline constexpr bool kIsTuple<std::pair<A, B>> = true;
template <class... T>
inline constexpr bool kIsTuple<std::tuple<T...>> = true;
template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = !std::is_same_v<T, bool>;
template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

template <class T>
T read_tuple(RecordBytes& in) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return T{read_record<std::tuple_element_t<I, T>>(in)...};  // in braces they are read in their order
  }
  (std::make_index_sequence<std::tuple_size_v<T>>{});
}

}  // namespace internal

template <class T>
struct RecordCodec {
  static constexpr bool kBytes = std::is_arithmetic_v<T> || wire::Plain<T>;

  static void write(RecordWriter& out, const T& record) {
    if constexpr (kBytes) {
      out.number(record);
    } else if constexpr (TextKey<T>) {
      out.text(record);
    } else if constexpr (internal::kIsTuple<T>) {
      std::apply([&](const auto&... part) { (write_record(out, part), ...); }, record);
    } else if constexpr (internal::kIsVector<T>) {
      out.number(static_cast<std::uint64_t>(record.size()));
      for (const auto& one : record) write_record(out, one);
    } else if constexpr (internal::kIsOptional<T>) {
      out.number(static_cast<std::uint8_t>(record.has_value()));
      if (record) write_record(out, *record);
    } else if constexpr (Reflectable<T> && !wire::HasCodec<T>) {
      apply_fields(record, [&](const auto&... field) { (write_record(out, field), ...); });
    } else {
      static_assert(check_sendable<T>());
      Writer writer;
      writer.value(record);
      write_message(out, writer.take());
    }
  }

  static T read(RecordBytes& in) {
    if constexpr (kBytes) {
      return in.number<T>();
    } else if constexpr (TextKey<T>) {
      return T(in.text());
    } else if constexpr (internal::kIsTuple<T>) {
      return internal::read_tuple<T>(in);
    } else if constexpr (internal::kIsVector<T>) {
      T out;
      const auto size = in.number<std::uint64_t>();
      for (std::uint64_t i = 0; i < size; ++i) out.push_back(read_record<typename T::value_type>(in));
      return out;
    } else if constexpr (internal::kIsOptional<T>) {
      if (in.number<std::uint8_t>() == 0) return {};
      return read_record<typename T::value_type>(in);
    } else if constexpr (Reflectable<T> && !wire::HasCodec<T>) {
      T out{};
      apply_fields(out, [&](auto&... field) { ((field = read_record<std::decay_t<decltype(field)>>(in)), ...); });
      return out;
    } else {
      const Message message = read_message(in);
      Reader reader(message.body.bytes(), message.arrays);
      T out = reader.value<T>();
      reader.finish();
      return out;
    }
  }
};

}  // namespace lp::dataflow
