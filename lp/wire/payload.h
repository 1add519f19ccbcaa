#pragma once
// Estimates a value's bytes without writing it: roughly the bytes of its arrays, texts and lists. This serves the
// bounds on waiting calls. A class with a Codec of its own counts as its size, with the contents that data() and size()
// show.

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <variant>

#include "lp/base/fields.h"
#include "lp/wire/sendable.h"

namespace lp::wire {

template <class T>
std::size_t payload_bytes(const T& value) {
  if constexpr (std::is_trivially_copyable_v<T>) {
    return sizeof(T);
  } else if constexpr (requires { sizeof(*value.data()) * static_cast<std::size_t>(value.size()); }) {
    using Element = std::remove_cvref_t<decltype(*value.data())>;
    if constexpr (std::is_trivially_copyable_v<Element>) {
      return sizeof(T) + sizeof(Element) * static_cast<std::size_t>(value.size());
    } else {
      std::size_t bytes = sizeof(T);
      for (const auto& element : value) bytes += payload_bytes(element);
      return bytes;
    }
  } else if constexpr (requires { value.begin() != value.end(); }) {
    std::size_t bytes = sizeof(T);
    for (const auto& element : value) {
      if constexpr (std::is_trivially_copyable_v<std::remove_cvref_t<decltype(element)>>)
        return bytes + value.size() * sizeof(element);
      bytes += payload_bytes(element);
    }
    return bytes;
  } else if constexpr (requires {
                         value.has_value();
                         *value;
                       }) {
    return sizeof(T) + (value.has_value() ? payload_bytes(*value) : 0);
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    return std::apply([](const auto&... part) { return (payload_bytes(part) + ... + std::size_t{0}); }, value);
  } else if constexpr (requires { std::variant_size<T>::value; }) {
    return value.valueless_by_exception() ? sizeof(T)
                                          : std::visit([](const auto& part) { return payload_bytes(part); }, value);
  } else if constexpr (HasCodec<T>) {
    return sizeof(T);
  } else {
    std::size_t bytes = 0;
    apply_fields(value, [&bytes](const auto&... field) { bytes = (payload_bytes(field) + ... + std::size_t{0}); });
    return bytes;
  }
}

}  // namespace lp::wire
