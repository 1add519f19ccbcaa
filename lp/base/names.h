#pragma once
// Names of types and methods as the program's text has them, read from the compiler (g++ and clang). Plain names are
// the same with both. Long template arguments, std::string and unnamed namespaces are spelled as the compiler spells
// them. So a name is for people and for one binary: never store it in a file.

#include <cstddef>
#include <string_view>

namespace lp {
namespace internal {

template <auto Value>
constexpr std::string_view pretty_value() {
  return __PRETTY_FUNCTION__;
}

template <class T>
constexpr std::string_view pretty_type() {
  return __PRETTY_FUNCTION__;
}

// Returns the part of the compiler's text behind "= ", up to the bracket or semicolon that ends it.
constexpr std::string_view pretty_argument(std::string_view text) {
  text.remove_prefix(text.find("= ") + 2);
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (depth == 0 && (c == ';' || c == ']')) return text.substr(0, i);
    if (c == '<' || c == '(' || c == '[' || c == '{') ++depth;
    if (c == '>' || c == ')' || c == ']' || c == '}') --depth;
  }
  return text;
}

}  // namespace internal

// Returns "push" for "app::Server::push". Template arguments stay whole: "Table<app::Row>" for "app::Table<app::Row>".
constexpr std::string_view last_part(std::string_view name) {
  int depth = 0;
  for (std::size_t i = name.size(); i > 1; --i) {
    const char c = name[i - 1];
    if (c == '>' || c == ')') ++depth;
    if (c == '<' || c == '(') --depth;
    if (depth == 0 && c == ':' && name[i - 2] == ':') return name.substr(i);
  }
  return name;
}

// "app::Server".
template <class T>
inline constexpr std::string_view type_name = internal::pretty_argument(internal::pretty_type<T>());

// "push" for &app::Server::push.
template <auto Method>
inline constexpr std::string_view method_name = last_part(internal::pretty_argument(internal::pretty_value<Method>()));

}  // namespace lp
