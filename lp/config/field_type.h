#pragma once
// How the fields of one C++ type are read from text and printed, with the type erased. So the code that works on
// configurations is compiled once, and not for each of them. Constants only: any thread may use them.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "lp/base/enums.h"
#include "lp/base/replicas.h"
#include "lp/config/config.h"

namespace lp::internal {

struct FieldType {
  enum class Kind { boolean, integer, number, replicas, string, choice };
  enum class Shape { one, optional, list };

  Kind kind;
  Shape shape;
  Range limits;                               // the range of an integer type
  std::span<const std::string_view> choices;  // the names of an enumeration's values, or all values of a string

  // Sets the value, or appends it to a list. Returns false if the text is no such value, or is beyond the type's range.
  bool (*parse)(void* field, std::string_view text);
  // Makes an optional or a list empty.
  void (*clear)(void* field);
  // Returns the text of each value: one; none or one; one for each element.
  std::vector<std::string> (*print)(const void* field);
  // Returns whether each value lies in the range. For replicas this applies to both ends; for an enumeration, the value
  // must have a name.
  bool (*within)(const void* field, const Range& range);
  // For a float or double, and a text of a number that is infinite, too large or too small: "a finite float (up to
  // 3.4028235e+38, down to 1e-45)". Else empty. Null for an enumeration.
  std::string (*finite)(std::string_view text) = nullptr;
};

template <class T>
inline constexpr bool is_character =
    std::is_same_v<T, char> || std::is_same_v<T, wchar_t> || std::is_same_v<T, char8_t> ||
    std::is_same_v<T, char16_t> || std::is_same_v<T, char32_t>;
template <class T>
inline constexpr bool is_number = (std::is_integral_v<T> && !is_character<T> && !std::is_same_v<T, bool>) ||
                                  std::is_same_v<T, float> || std::is_same_v<T, double>;

template <class T>
inline constexpr bool takes_range = is_number<T> || std::is_same_v<T, Replicas>;

template <class T>
concept PlainValue = takes_range<T> || std::is_same_v<T, bool> || std::is_same_v<T, std::string>;

// Defined and instantiated in field_type.cc for every PlainValue.
template <PlainValue T>
struct PlainTypes {
  static const FieldType& one();       // for a T
  static const FieldType& optional();  // for a std::optional<T>
  static const FieldType& list();      // for a std::vector<T>
};

// The type of a std::string that has one of these names. They must outlive it.
FieldType one_of(std::span<const std::string_view> names);

// T itself, or the type of the values in a list or an optional.
template <class T>
struct ValueOf {
  using type = T;
  static constexpr auto shape = FieldType::Shape::one;
};
template <class T>
struct ValueOf<std::vector<T>> {
  using type = T;
  static constexpr auto shape = FieldType::Shape::list;
};
template <class T>
struct ValueOf<std::optional<T>> {
  using type = T;
  static constexpr auto shape = FieldType::Shape::optional;
};

template <NamedEnum E>
inline constexpr FieldType kChoiceType{
    .kind = FieldType::Kind::choice,
    .shape = FieldType::Shape::one,
    .limits = {},
    .choices = {kEnumerators<E>.names.data(), kEnumerators<E>.count},
    .parse =
        [](void* field, std::string_view text) {
          for (std::size_t i = 0; i < kEnumerators<E>.count; ++i) {
            if (kEnumerators<E>.names[i] != text) continue;
            *static_cast<E*>(field) = static_cast<E>(i);
            return true;
          }
          return false;
        },
    .clear = [](void*) {},
    .print =
        [](const void* field) {
          return std::vector<std::string>{std::string(enum_name(*static_cast<const E*>(field)))};
        },
    .within = [](const void* field, const Range&) { return !enum_name(*static_cast<const E*>(field)).empty(); }};

template <class T>
const FieldType& field_type() {
  using Value = typename ValueOf<T>::type;
  constexpr bool supported = PlainValue<Value> || NamedEnum<T>;
  static_assert(
      supported,
      "lp: a configuration cannot have a field of this type; it takes bool, integers, float, double, std::string, "
      "lp::Replicas, vectors and optionals of these, an enum class of values 0, 1, 2, ..., and nested aggregates");
  if constexpr (NamedEnum<T>) {
    return kChoiceType<T>;
  } else if constexpr (PlainValue<Value>) {
    switch (ValueOf<T>::shape) {
      case FieldType::Shape::one: return PlainTypes<Value>::one();
      case FieldType::Shape::optional: return PlainTypes<Value>::optional();
      case FieldType::Shape::list: break;
    }
    return PlainTypes<Value>::list();
  }
}

}  // namespace lp::internal
