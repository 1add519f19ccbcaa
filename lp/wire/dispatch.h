#pragma once
// Writes and reads a value of any Sendable type: by its kind, its Codec or its fields. Included by codec.h.

#include <type_traits>

#include "lp/base/fields.h"
#include "lp/wire/reader.h"
#include "lp/wire/sendable.h"
#include "lp/wire/writer.h"

namespace lp {
namespace wire {

template <class T>
void encode(Writer& writer, const T& value) {
  if constexpr (Number<T>) {
    writer.number(value);
  } else if constexpr (HasCodec<T>) {
    const Writer::Nested nested(writer);
    Codec<T>::encode(writer, value);
  } else if constexpr (std::is_enum_v<T>) {
    writer.number(static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (field_count<T> == 0) {
    // Every value takes at least one byte, so that the number of bytes bounds every count.
    writer.number(std::uint8_t{0});
  } else {
    const Writer::Nested nested(writer);
    apply_fields(value, [&writer](const auto&... field) { (encode(writer, field), ...); });
  }
}

template <class T>
T decode(Reader& reader);

template <class T, class... F>
T decode_fields(Reader& reader, TypeList<F...>) {
  return T{decode<F>(reader)...};  // braces decode the fields in order
}

template <class T>
T decode(Reader& reader) {
  if constexpr (std::is_same_v<T, bool>) {
    return reader.boolean();
  } else if constexpr (Number<T>) {
    return reader.number<T>();
  } else if constexpr (HasCodec<T>) {
    const Reader::Nested nested(reader, &internal::pretty_type<T>);
    return Codec<T>::decode(reader);
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<T>(decode<std::underlying_type_t<T>>(reader));
  } else if constexpr (field_count<T> == 0) {
    if (reader.number<std::uint8_t>() != 0) reader.fail("an empty struct is not 0");
    return T{};
  } else {
    const Reader::Nested nested(reader, &internal::pretty_type<T>);
    return decode_fields<T>(reader, FieldTypes<T>{});
  }
}

}  // namespace wire

template <Sendable T>
void Writer::value(const T& value) {
  wire::encode(*this, value);
}

template <Sendable T>
T Reader::value() {
  return wire::decode<T>(*this);
}

}  // namespace lp
