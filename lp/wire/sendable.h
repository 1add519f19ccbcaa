#pragma once
// The types that can travel, decided at compile time. Include codec.h, which also knows the standard types.

#include <array>
#include <cstddef>
#include <type_traits>

#include "lp/base/fields.h"

namespace lp {

// Turns values of T into bytes and back. codec.h explains how to write one for a class of your own.
template <class T>
struct Codec;

namespace wire {

template <class T>
concept HasCodec = requires {
  sizeof(Codec<T>);
};

template <class T>
concept Number = std::is_arithmetic_v<T> && !std::is_same_v<T, long double> && std::is_same_v<T, std::remove_cv_t<T>>;

// An enum with a fixed underlying type: every value of that type is a value of the enum.
template <class E>
concept FixedEnum = std::is_enum_v<E> && requires {
  E{std::underlying_type_t<E>{}};
};

// Returns the size of a T that consists of numbers alone and means the same after memcpy: it has no pointer, no
// padding, and no bool (not every byte is a bool). Returns 0 for every other type.
template <class T>
constexpr std::size_t plain_size();

template <class... F>
constexpr std::size_t plain_sizes(TypeList<F...>) {
  return ((plain_size<F>() > 0) && ...) ? (plain_size<F>() + ... + 0) : 0;
}

template <class T>
struct StdArray : std::false_type {};
template <class T, std::size_t N>
struct StdArray<std::array<T, N>> : std::true_type {};

template <class T>
constexpr std::size_t plain_size() {
  if constexpr (std::is_same_v<T, bool>) {
    return 0;
  } else if constexpr (Number<T>) {
    return sizeof(T);
  } else if constexpr (StdArray<T>::value) {
    return plain_size<typename T::value_type>() > 0 ? sizeof(T) : 0;
  } else if constexpr (FixedEnum<T> && !HasCodec<T>) {
    return plain_size<std::underlying_type_t<T>>();
  } else if constexpr (std::is_trivially_copyable_v<T> && Aggregate<T> && !HasCodec<T>) {
    if constexpr (Reflectable<T>) {
      return plain_sizes(FieldTypes<T>{}) == sizeof(T) ? sizeof(T) : 0;
    } else {
      return 0;
    }
  } else {
    return 0;
  }
}

template <class T>
concept Plain = plain_size<T>()
> 0;

// Whether T can travel. `Open` are the classes around T, so that the check of a class that contains itself ends.
template <class T, class... Open>
constexpr bool sendable();

template <class... Open, class... Part>
constexpr bool all_sendable(TypeList<Part...>) {
  return (sendable<Part, Open...>() && ...);
}

template <class T, class... Open>
constexpr bool sendable() {
  if constexpr (Number<T>) {
    return true;
  } else if constexpr (!std::is_object_v<T> || !std::is_same_v<T, std::remove_cv_t<T>> ||
                       (std::is_same_v<T, Open> || ...)) {
    return std::is_object_v<T> && std::is_same_v<T, std::remove_cv_t<T>>;
  } else if constexpr (requires { typename Codec<T>::Parts; }) {
    return all_sendable<T, Open...>(typename Codec<T>::Parts{});
  } else if constexpr (HasCodec<T>) {
    return true;
  } else if constexpr (std::is_enum_v<T>) {
    return FixedEnum<T>;
  } else if constexpr (Reflectable<T>) {
    return all_sendable<T, Open...>(FieldTypes<T>{});
  } else {
    return false;
  }
}

template <class...>
inline constexpr bool kAlwaysFalse = false;

// Prints one sentence about the problem of T. The compiler adds the types in which it lies.
template <class T, class... Open>
constexpr void explain();

template <class... Open, class... Part>
constexpr void explain_parts(TypeList<Part...>) {
  (explain<Part, Open...>(), ...);
}

template <class T, class... Open>
constexpr void explain() {
  if constexpr (sendable<T, Open...>()) {
    return;
  } else if constexpr (std::is_pointer_v<T> || std::is_member_pointer_v<T> || std::is_null_pointer_v<T>) {
    static_assert(kAlwaysFalse<T>,
                  "lp: a pointer cannot be sent, because it is valid only in its own process; send the value, or own "
                  "it with std::unique_ptr");
  } else if constexpr (std::is_reference_v<T> || std::is_const_v<T> || std::is_volatile_v<T>) {
    static_assert(kAlwaysFalse<T>, "lp: a reference or a const type cannot be sent; send the value");
  } else if constexpr (std::is_array_v<T>) {
    static_assert(kAlwaysFalse<T>, "lp: a C array cannot be sent; use std::array, std::vector or lp::Array");
  } else if constexpr (std::is_same_v<T, long double>) {
    static_assert(kAlwaysFalse<T>, "lp: long double has no portable bytes; use double");
  } else if constexpr (requires { typename Codec<T>::Parts; }) {
    explain_parts<T, Open...>(typename Codec<T>::Parts{});
  } else if constexpr (std::is_enum_v<T>) {
    static_assert(kAlwaysFalse<T>, "lp: an enum that is sent needs an underlying type: enum class E, or enum E : int");
  } else if constexpr (Reflectable<T>) {
    explain_parts<T, Open...>(FieldTypes<T>{});
  } else if constexpr (Aggregate<T>) {
    static_cast<void>(field_count<T>);  // prints the reason
  } else {
    static_assert(kAlwaysFalse<T>,
                  "lp: this type cannot be sent: it is not an aggregate of types that can be sent, and it has no "
                  "lp::Codec. lp/wire/codec.h explains how to write one; lp/wire/eigen.h has those for Eigen; instead "
                  "of a view such as std::string_view, send the value that it refers to");
  }
}

}  // namespace wire

// Numbers, enums with a fixed underlying type, aggregates of Sendable fields, and types with a Codec. Pointers,
// references, views, C arrays, functions, mutexes and long double are not Sendable.
template <class T>
concept Sendable = wire::sendable<T>();

// For a static_assert that gives the reason: returns true if T is Sendable, otherwise it does not compile and prints a
// sentence.
template <class T>
constexpr bool check_sendable() {
  wire::explain<T>();
  return true;
}

}  // namespace lp
