#pragma once
// The codecs of lp::Array and of the standard library's types. Included by codec.h.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "lp/base/array.h"
#include "lp/wire/dispatch.h"

namespace lp {

template <>
struct Codec<std::string> {
  static void encode(Writer& writer, const std::string& text);
  static std::string decode(Reader& reader);
  static std::string shape() { return "string"; }
};

namespace wire {

// The items that an array on the wire can have: plain ones, and bool, whose bytes are checked.
template <class T>
concept WireItem = Plain<T> || std::is_same_v<T, bool>;

void check_bools(const Reader& reader, std::span<const std::byte> bytes);

// Copies the items of an array from `bytes`, which may lie at any address.
template <class Container>
Container copy_items(std::span<const std::byte> bytes) {
  using T = typename Container::value_type;
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(T) == 0) {
    const auto* first = reinterpret_cast<const T*>(bytes.data());
    return Container(first, first + bytes.size() / sizeof(T));
  }
  Container items(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(items.data(), bytes.data(), bytes.size());
  return items;
}

// Writes a sequence, set or map: the count, then the items.
template <class Container>
void encode_items(Writer& writer, const Container& items) {
  writer.count(items.size());
  for (const auto& item : items) encode(writer, item);
}

}  // namespace wire

template <class T>
  requires wire::WireItem<T>
struct Codec<Array<T>> {
  static void encode(Writer& writer, const Array<T>& array) {
    writer.count(array.size());
    writer.array(array.buffer());
  }
  static Array<T> decode(Reader& reader) {
    const auto count = reader.number<std::uint64_t>();
    Array<T> array(reader.shared_array(count, sizeof(T), alignof(T)));
    if constexpr (std::is_same_v<T, bool>) wire::check_bools(reader, array.buffer().bytes());
    return array;
  }
  using Parts = TypeList<T>;
  static std::string shape() { return "array"; }
};

template <class T, class Allocator>
struct Codec<std::vector<T, Allocator>> {
  using Vector = std::vector<T, Allocator>;
  static void encode(Writer& writer, const Vector& items) {
    if constexpr (std::is_same_v<T, bool>) {
      writer.count(items.size());
      for (const bool item : items) writer.number(item);
    } else if constexpr (wire::Plain<T>) {
      writer.count(items.size());
      writer.array(items.data(), items.size() * sizeof(T));
    } else {
      wire::encode_items(writer, items);
    }
  }
  static Vector decode(Reader& reader) {
    if constexpr (wire::Plain<T>) {
      const auto count = reader.number<std::uint64_t>();
      return wire::copy_items<Vector>(reader.array(count, sizeof(T)));
    } else {
      const std::size_t count = reader.count();
      Vector items;
      items.reserve(std::min(count, reader.left() / sizeof(T) + 1));  // takes no more memory than the message has bytes
      for (std::size_t i = 0; i < count; ++i) items.push_back(wire::decode<T>(reader));
      return items;
    }
  }
  using Parts = TypeList<T>;
  static std::string shape() { return wire::Plain<T> ? "array" : "list"; }
};

template <class T, std::size_t N>
struct Codec<std::array<T, N>> {
  static void encode(Writer& writer, const std::array<T, N>& items) {
    if constexpr (N == 0) {
      writer.number(std::uint8_t{0});
    } else if constexpr (wire::Plain<T>) {
      writer.array(items.data(), sizeof items);
    } else {
      for (const T& item : items) wire::encode(writer, item);
    }
  }
  static std::array<T, N> decode(Reader& reader) {
    if constexpr (N == 0) {
      reader.number<std::uint8_t>();
      return {};
    } else if constexpr (wire::Plain<T>) {
      std::array<T, N> items;
      std::memcpy(items.data(), reader.array(N, sizeof(T)).data(), sizeof items);
      return items;
    } else {
      return decode_each(reader, std::make_index_sequence<N>{});
    }
  }
  using Parts = TypeList<T>;
  static std::string shape() { return "array of " + std::to_string(N); }

 private:
  template <std::size_t... I>
  static std::array<T, N> decode_each(Reader& reader, std::index_sequence<I...>) {
    return {{(void(I), wire::decode<T>(reader))...}};
  }
};

template <class T>
struct Codec<std::optional<T>> {
  static void encode(Writer& writer, const std::optional<T>& value) {
    writer.number(value.has_value());
    if (value) wire::encode(writer, *value);
  }
  static std::optional<T> decode(Reader& reader) {
    if (!reader.boolean()) return std::nullopt;
    return wire::decode<T>(reader);
  }
  using Parts = TypeList<T>;
  static std::string shape() { return "optional"; }
};

// Sends the owned value or nothing, as for std::optional. Serves types that contain themselves.
template <class T>
  requires(!std::is_polymorphic_v<T> && !std::is_array_v<T>)
struct Codec<std::unique_ptr<T>> {
  static void encode(Writer& writer, const std::unique_ptr<T>& value) {
    writer.number(value != nullptr);
    if (value) wire::encode(writer, *value);
  }
  static std::unique_ptr<T> decode(Reader& reader) {
    if (!reader.boolean()) return nullptr;
    return std::make_unique<T>(wire::decode<T>(reader));
  }
  using Parts = TypeList<T>;
  static std::string shape() { return "optional"; }
};

template <>
struct Codec<std::monostate> {
  static void encode(Writer& writer, std::monostate) { writer.number(std::uint8_t{0}); }
  static std::monostate decode(Reader& reader) {
    if (reader.number<std::uint8_t>() != 0) reader.fail("a monostate is not 0");
    return {};
  }
  static std::string shape() { return "nothing"; }
};

namespace wire {
[[noreturn]] void fail_valueless();
}  // namespace wire

template <class... T>
struct Codec<std::variant<T...>> {
  using Variant = std::variant<T...>;
  static_assert(sizeof...(T) < 256, "lp: a variant that is sent has at most 255 alternatives");

  static void encode(Writer& writer, const Variant& value) {
    if (value.valueless_by_exception()) wire::fail_valueless();
    writer.number(static_cast<std::uint8_t>(value.index()));
    std::visit([&writer](const auto& alternative) { wire::encode(writer, alternative); }, value);
  }
  static Variant decode(Reader& reader) { return decode_from<0>(reader, reader.number<std::uint8_t>()); }
  using Parts = TypeList<T...>;
  static std::string shape() { return "variant"; }

 private:
  template <std::size_t I>
  static Variant decode_from(Reader& reader, std::size_t index) {
    if constexpr (I == sizeof...(T)) {
      reader.fail("a variant has no such alternative");
    } else {
      if (index > I) return decode_from<I + 1>(reader, index);
      return Variant(std::in_place_index<I>, wire::decode<std::variant_alternative_t<I, Variant>>(reader));
    }
  }
};

template <class A, class B>
struct Codec<std::pair<A, B>> {
  using First = std::remove_const_t<A>;  // a map's item has a const key
  static void encode(Writer& writer, const std::pair<A, B>& value) {
    wire::encode<First>(writer, value.first);
    wire::encode(writer, value.second);
  }
  static std::pair<A, B> decode(Reader& reader) {
    return std::pair<A, B>{wire::decode<First>(reader), wire::decode<B>(reader)};
  }
  using Parts = TypeList<First, B>;
  static std::string shape() { return "tuple"; }
};

template <class... T>
struct Codec<std::tuple<T...>> {
  static void encode(Writer& writer, const std::tuple<T...>& value) {
    if constexpr (sizeof...(T) == 0) {
      writer.number(std::uint8_t{0});
    } else {
      std::apply([&writer](const T&... part) { (wire::encode(writer, part), ...); }, value);
    }
  }
  static std::tuple<T...> decode(Reader& reader) {
    if constexpr (sizeof...(T) == 0) reader.number<std::uint8_t>();
    return std::tuple<T...>{wire::decode<T>(reader)...};
  }
  using Parts = TypeList<T...>;
  static std::string shape() { return "tuple"; }
};

namespace wire {

// The types below are recognized by their members, so that nobody pays for headers that he does not use. Sets and maps
// of the standard library, ordered and hashed.
template <class T>
concept SetOrMap = requires(T& container, typename T::value_type value) {
  typename T::key_type;
  typename T::allocator_type;
  container.insert(container.end(), std::move(value));
  container.size();
};

// Sets and maps whose keys differ.
template <class T>
concept UniqueKeys = SetOrMap<T> && requires(T& container, typename T::value_type value) {
  container.insert(std::move(value)).second;
};

// std::deque and std::list.
template <class T>
concept Sequence = requires(T& container, typename T::value_type value) {
  typename T::allocator_type;
  container.push_front(std::move(value));
  container.push_back(std::move(value));
  container.size();
};

// std::filesystem::path.
template <class T>
concept StdPath = requires(const T& path) {
  { path.native() } -> std::same_as<const std::string&>;
  path.lexically_normal();
};

// std::chrono::duration.
template <class T>
concept StdDuration = requires(const T& duration) {
  typename T::period;
  T(typename T::rep{});
  { duration.count() } -> std::same_as<typename T::rep>;
};

}  // namespace wire

template <wire::SetOrMap T>
struct Codec<T> {
  using Item = typename T::value_type;
  static void encode(Writer& writer, const T& items) { wire::encode_items(writer, items); }
  static T decode(Reader& reader) {
    const std::size_t count = reader.count();
    T items;
    for (std::size_t i = 0; i < count; ++i) {
      items.insert(items.end(), wire::decode<Item>(reader));
      if constexpr (wire::UniqueKeys<T>) {
        if (items.size() != i + 1) reader.fail("a key is given twice");
      }
    }
    return items;
  }
  using Parts = TypeList<Item>;
  static std::string shape() { return "set"; }
};

template <wire::Sequence T>
struct Codec<T> {
  using Item = typename T::value_type;
  static void encode(Writer& writer, const T& items) { wire::encode_items(writer, items); }
  static T decode(Reader& reader) {
    const std::size_t count = reader.count();
    T items;
    for (std::size_t i = 0; i < count; ++i) items.push_back(wire::decode<Item>(reader));
    return items;
  }
  using Parts = TypeList<Item>;
  static std::string shape() { return "list"; }
};

template <wire::StdPath T>
struct Codec<T> {
  static void encode(Writer& writer, const T& path) { wire::encode(writer, path.native()); }
  static T decode(Reader& reader) { return T(wire::decode<std::string>(reader)); }
  static std::string shape() { return "string"; }
};

template <wire::StdDuration T>
struct Codec<T> {
  using Rep = typename T::rep;
  static void encode(Writer& writer, const T& duration) { wire::encode<Rep>(writer, duration.count()); }
  static T decode(Reader& reader) { return T(wire::decode<Rep>(reader)); }
  using Parts = TypeList<Rep>;
  static std::string shape() {
    return "duration " + std::to_string(T::period::num) + "/" + std::to_string(T::period::den);
  }
};

}  // namespace lp
