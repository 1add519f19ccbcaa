#pragma once
// Values through bytes and back, for the tests of this folder.

#include <cstddef>
#include <span>

#include "lp/wire/codec.h"

namespace lp {

template <class T>
Message encoded(const T& value) {
  Writer writer;
  writer.value(value);
  return writer.take();
}

template <class T>
T decoded(std::span<const std::byte> body, std::span<const Buffer> arrays = {}) {
  Reader reader(body, arrays);
  T value = reader.value<T>();
  reader.finish();
  return value;
}

template <class T>
T decoded(const Message& frames) {
  return decoded<T>(frames.body.bytes(), frames.arrays);
}

template <class T>
T round_trip(const T& value) {
  return decoded<T>(encoded(value));
}

inline bool same_bytes(const Buffer& a, const Buffer& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

inline bool same_bytes(const Message& a, const Message& b) {
  if (!same_bytes(a.body, b.body) || a.arrays.size() != b.arrays.size()) return false;
  for (std::size_t i = 0; i < a.arrays.size(); ++i) {
    if (!same_bytes(a.arrays[i], b.arrays[i])) return false;
  }
  return true;
}

}  // namespace lp
