#pragma once
// Keys and values as bytes. The bytes of two keys compare, as unsigned characters, as the keys do; so everything below
// the typed functions of a user sorts, hashes and merges bytes. Pure functions.

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "lp/base/error.h"
#include "lp/base/text.h"

namespace lp {

// The value of records that have a key alone.
struct Nothing {};

namespace dataflow {

// What a shuffle moves, in batches and in streams: a key and a value, whose bytes belong to somebody else.
struct Pair {
  std::string_view key{};
  std::string_view value{};
};

template <class K>
concept TextKey = std::same_as<K, std::string_view> || std::same_as<K, std::string>;
template <class K>
concept NumberKey = (std::integral<K> || std::same_as<K, double>)&&sizeof(K) <= 8;
template <class K>
concept Key = TextKey<K> || NumberKey<K>;
// A value that is stored as its bytes, or a text.
template <class V>
concept Value = TextKey<V> ||
    (std::is_trivially_copyable_v<V>&& std::is_default_constructible_v<V> && !std::is_pointer_v<V>);

// A number whose order as an unsigned integer is the order of the keys. -0.0 comes before 0.0, and NaN last or first.
template <NumberKey K>
std::uint64_t ordered(K key) {
  if constexpr (std::is_same_v<K, double>) {
    const auto bits = std::bit_cast<std::uint64_t>(key);
    return (bits >> 63) != 0 ? ~bits : bits | std::uint64_t{1} << 63;
  } else if constexpr (std::is_signed_v<K>) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(key)) ^ std::uint64_t{1} << 63;
  } else {
    return static_cast<std::uint64_t>(key);
  }
}
template <NumberKey K>
K from_ordered(std::uint64_t number) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  if constexpr (std::is_same_v<K, double>) {
    return std::bit_cast<double>((number & kSign) != 0 ? number ^ kSign : ~number);
  } else if constexpr (std::is_signed_v<K>) {
    return static_cast<K>(static_cast<std::int64_t>(number ^ kSign));
  } else {
    return static_cast<K>(number);
  }
}

// The bytes of one key, for as long as it and the key live.
template <Key K>
class KeyBytes {
 public:
  explicit KeyBytes(const K& key) {
    if constexpr (TextKey<K>) {
      bytes_ = key;
    } else {
      const std::uint64_t big_endian = __builtin_bswap64(ordered(key));
      std::memcpy(number_.data(), &big_endian, sizeof(big_endian));
    }
  }
  std::string_view view() const {
    if constexpr (TextKey<K>) {
      return bytes_;
    } else {
      return {number_.data(), number_.size()};
    }
  }

 private:
  std::string_view bytes_{};
  std::array<char, 8> number_{};
};

// For people.
template <Key K>
std::string key_text(const K& key) {
  if constexpr (TextKey<K>) {
    return quote(key);
  } else {
    return std::to_string(key);
  }
}

template <Key K>
std::string key_name(const K& key) {
  return "the key " + key_text(key);
}

template <Key K>
K key_of(std::string_view bytes) {
  if constexpr (TextKey<K>) {
    return K(bytes);
  } else {
    std::uint64_t big_endian = 0;
    if (bytes.size() != sizeof(big_endian)) throw Error(ErrorKind::failed, "a stored key has the wrong size");
    std::memcpy(&big_endian, bytes.data(), sizeof(big_endian));
    return from_ordered<K>(__builtin_bswap64(big_endian));
  }
}

template <Value V>
std::string_view value_bytes(const V& value) {
  if constexpr (TextKey<V>) {
    return value;
  } else if constexpr (std::is_empty_v<V>) {
    return {};
  } else {
    return {reinterpret_cast<const char*>(&value), sizeof(V)};
  }
}
template <Value V>
V value_of(std::string_view bytes) {
  if constexpr (TextKey<V>) {
    return V(bytes);
  } else {
    V out{};
    if constexpr (!std::is_empty_v<V>) {
      if (bytes.size() != sizeof(V)) throw Error(ErrorKind::failed, "a stored value has the wrong size");
      std::memcpy(&out, bytes.data(), sizeof(V));
    }
    return out;
  }
}

// The first eight bytes of a key, as a number: if two differ, the keys compare as they do.
inline std::uint64_t prefix_of(std::string_view key) {
  std::uint64_t bytes = 0;
  if (key.size() >= sizeof(bytes)) [[likely]] {
    std::memcpy(&bytes, key.data(), sizeof(bytes));
  } else {
    std::memcpy(&bytes, key.data(), key.size());
  }
  return __builtin_bswap64(bytes);
}

}  // namespace dataflow
}  // namespace lp
