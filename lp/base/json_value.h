#pragma once
// Reads JSON (RFC 8259): the output of a JsonWriter, and any other text that claims to be JSON. Values; any thread.
//
//   const auto status = lp::from_json<RunStatus>(text);
//   // an aggregate, a container, an optional, a number, a string ...
//
// A field that the text does not have keeps its default, and a member that the type does not have is skipped, so that
// programs of different ages read one another. Everything else that does not fit throws Error(failed) with its place:
// "nodes[3].state: ...".

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

#include "lp/base/enums.h"
#include "lp/base/fields.h"

namespace lp {

class JsonValue {
 public:
  enum class Kind : std::uint8_t { null, boolean, number, string, array, object };
  static constexpr int kDeepest = 64;  // levels of nested brackets

  // Throws Error(failed), with the line, if the text is not JSON, not UTF-8 or too deep.
  static JsonValue parse(std::string_view text);

  Kind kind() const { return kind_; }
  bool boolean() const { return text_ == "true"; }
  const std::string& text() const { return text_; }  // text of a string; digits of a number as they were written
  const std::vector<JsonValue>& items() const { return items_; }  // items of an array or an object
  const std::vector<std::string>& keys() const { return keys_; }  // keys of an object, in the order of its items
  const JsonValue* find(std::string_view key) const;              // the first member of that name, or null

 private:
  class Parser;
  Kind kind_ = Kind::null;
  std::string text_;
  std::vector<JsonValue> items_;
  std::vector<std::string> keys_;
};

namespace internal {

// The path of a value in a document: a list from the inside to the outside, on the stack.
struct JsonPath {
  const JsonPath* outer = nullptr;
  std::string_view key{};
  std::size_t index = 0;  // used if there is no key
};
[[noreturn]] void refuse_json(const JsonPath& path, const JsonValue& value, std::string_view expected);

template <class T>
void read_json(const JsonValue& value, const JsonPath& path, T& out);

template <class E>
void read_json_name(const JsonValue& value, const JsonPath& path, E& out) {
  std::string known;
  for (std::size_t i = 0; i < kEnumerators<E>.count; ++i) {
    const std::string_view name = kEnumerators<E>.names[i];
    if (value.text() == name && value.kind() == JsonValue::Kind::string) {
      out = static_cast<E>(i);
      return;
    }
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  refuse_json(path, value, "one of " + known);
}

template <class Number>
void read_json_number(const JsonValue& value, const JsonPath& path, Number& out) {
  const std::string& text = value.text();
  if (std::floating_point<Number> && value.kind() == JsonValue::Kind::null) {
    out = std::numeric_limits<Number>::quiet_NaN();
    return;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (value.kind() != JsonValue::Kind::number || error != std::errc() || end != text.data() + text.size()) {
    refuse_json(path, value, std::floating_point<Number> ? "a number" : "an integer of its range");
  }
}

template <class T>
void read_json(const JsonValue& value, const JsonPath& path, T& out) {
  using Kind = JsonValue::Kind;
  const auto expect = [&](Kind kind, std::string_view what) {
    if (value.kind() != kind) refuse_json(path, value, what);
  };
  if constexpr (std::is_same_v<T, bool>) {
    expect(Kind::boolean, "true or false");
    out = value.boolean();
  } else if constexpr (NamedEnum<T>) {
    read_json_name(value, path, out);
  } else if constexpr (std::is_arithmetic_v<T>) {
    read_json_number(value, path, out);
  } else if constexpr (std::is_same_v<T, std::string>) {
    expect(Kind::string, "a string");
    out = value.text();
  } else if constexpr (std::is_same_v<T, JsonValue>) {
    out = value;
  } else if constexpr (requires { typename T::mapped_type; }) {
    expect(Kind::object, "an object");
    out.clear();
    for (std::size_t i = 0; i < value.items().size(); ++i) {
      read_json(value.items()[i], {&path, value.keys()[i]}, out[value.keys()[i]]);
    }
  } else if constexpr (requires { out.emplace_back(); }) {
    expect(Kind::array, "an array");
    out.clear();
    for (std::size_t i = 0; i < value.items().size(); ++i) {
      read_json(value.items()[i], {&path, {}, i}, out.emplace_back());
    }
  } else if constexpr (requires { out.emplace(), out.reset(); }) {
    if (value.kind() == Kind::null) {
      out.reset();
    } else {
      read_json(value, path, out.emplace());
    }
  } else {
    static_assert(Aggregate<T>, "lp: JSON has no form for this type; read an aggregate, a container or a scalar");
    expect(Kind::object, "an object");
    for_each_field(out, [&](std::string_view name, auto& field) {
      if (const JsonValue* member = value.find(name)) read_json(*member, {&path, name}, field);
    });
  }
}

}  // namespace internal

template <class T>
T from_json(const JsonValue& value) {
  T out{};
  internal::read_json(value, {}, out);
  return out;
}
template <class T>
T from_json(std::string_view text) {
  return from_json<T>(JsonValue::parse(text));
}

}  // namespace lp
