#pragma once
// Writes JSON (RFC 8259): results, plans and status. A JsonWriter belongs to one thread.
//
//   lp::to_json(value);                // an aggregate, a container, an optional, a number, a string ... as one line
//
//   lp::JsonWriter json;
//   json.begin_object();
//   json.member("steps", 500);         // a key and a value
//   json.key("nodes");
//   json.begin_array();
//   json.string("worker/0");
//   json.end_array();
//   json.end_object();
//   std::move(json).text();
//
// The output is always valid UTF-8: bytes of a string that are not valid become U+FFFD. Numbers are written so that
// they read back exactly; NaN and the infinities, which JSON does not have, become null. Maps and aggregates become
// objects. Values of enumerations become their names.

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "lp/base/enums.h"
#include "lp/base/fields.h"

namespace lp {

class JsonWriter {
 public:
  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }

  void key(std::string_view name);  // one value must follow
  template <class T>
  void member(std::string_view name, const T& value) {
    key(name);
    write(value);
  }

  void null();
  void boolean(bool value);
  void number(std::int64_t value);
  void number(std::uint64_t value);
  void number(double value);
  void number(float value);
  void string(std::string_view value);
  void json(std::string_view text);  // one value that is JSON already

  template <class T>
  void write(const T& value);

  const std::string& text() const& { return text_; }
  std::string text() && { return std::move(text_); }

 private:
  void separate();  // writes a comma, if a value stands before
  void open(char bracket);
  void close(char bracket);
  void quote(std::string_view value);

  std::string text_;
  bool needs_comma_ = false;
};

template <class T>
void JsonWriter::write(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    boolean(value);
  } else if constexpr (NamedEnum<T>) {
    if (const std::string_view name = enum_name(value); !name.empty()) {
      string(name);
    } else {
      write(static_cast<std::underlying_type_t<T>>(value));
    }
  } else if constexpr (std::is_enum_v<T>) {
    write(static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (std::signed_integral<T>) {
    number(std::int64_t{value});
  } else if constexpr (std::unsigned_integral<T>) {
    number(std::uint64_t{value});
  } else if constexpr (std::floating_point<T>) {
    number(value);
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    string(value);
  } else if constexpr (requires { typename T::mapped_type; }) {
    begin_object();
    for (const auto& [name, mapped] : value) member(name, mapped);
    end_object();
  } else if constexpr (requires { value.begin() != value.end(); }) {
    begin_array();
    for (auto&& element : value) write<typename T::value_type>(element);
    end_array();
  } else if constexpr (requires { value.has_value(), *value; }) {
    if (value.has_value()) {
      write(*value);
    } else {
      null();
    }
  } else {
    static_assert(Aggregate<T>, "lp: JSON has no form for this type; write an aggregate, a container or a scalar");
    begin_object();
    for_each_field(value, [this](std::string_view name, const auto& field) { this->member(name, field); });
    end_object();
  }
}

// Returns `value` as one line of JSON.
template <class T>
std::string to_json(const T& value) {
  JsonWriter json;
  json.write(value);
  return std::move(json).text();
}

}  // namespace lp
