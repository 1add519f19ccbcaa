#pragma once
// The names of an enumeration's values, read from the compiler, without a macro. g++ and clang only.
//
// Covers the enumerations whose values are 0, 1, 2, ... without a gap, at most kMostEnumerators of them, with a fixed
// underlying type (every `enum class` has one).

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

namespace lp {

inline constexpr std::size_t kMostEnumerators = 32;

namespace internal {

template <class E, E... values>
constexpr std::string_view pretty_enumerators() {
  return __PRETTY_FUNCTION__;
}

// Returns the end of the first element of "app::Color::red, app::Color::green}": a comma or bracket outside every
// bracket.
constexpr std::size_t end_of_element(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (depth == 0 && (c == ',' || c == '}' || c == '>' || c == ']')) return i;
    if (c == '<' || c == '(' || c == '{') ++depth;
    if (c == '>' || c == ')' || c == '}') --depth;
  }
  return text.size();
}

// The compiler spells a value that has a name as app::Color::red, and one that has none as (app::Color)7.
template <class E>
struct Enumerators {
  std::array<std::string_view, kMostEnumerators> names{};
  std::size_t count = 0;

  constexpr Enumerators() {
    constexpr std::string_view kStart = "values = ";
    std::string_view text = []<std::size_t... I>(std::index_sequence<I...>) {
      return pretty_enumerators<E, static_cast<E>(I)...>();
    }
    (std::make_index_sequence<kMostEnumerators>{});
    text.remove_prefix(text.find(kStart) + kStart.size() + 1);
    while (count < kMostEnumerators) {
      const std::size_t end = end_of_element(text);
      const std::string_view element = text.substr(0, end);
      const std::string_view name = element.substr(element.rfind(':') + 1);
      if (name.find(')') != std::string_view::npos) break;
      names[count++] = name;
      if (count < kMostEnumerators) text.remove_prefix(end + 2);
    }
  }
};

template <class E>
inline constexpr Enumerators<E> kEnumerators{};

}  // namespace internal

template <class E>
concept NamedEnum =
    std::is_enum_v<E> && !std::is_convertible_v<E, std::underlying_type_t<E>> && (internal::kEnumerators<E>.count > 0);

// Returns "red" for Color::red, and an empty text for a value that has no name.
template <NamedEnum E>
constexpr std::string_view enum_name(E value) {
  const auto number = static_cast<std::size_t>(value);
  return number < internal::kEnumerators<E>.count ? internal::kEnumerators<E>.names[number] : std::string_view{};
}

}  // namespace lp
