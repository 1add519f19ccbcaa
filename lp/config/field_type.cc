#include "lp/config/field_type.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>
#include <utility>

namespace lp::internal {
namespace {

using Kind = FieldType::Kind;
using Shape = FieldType::Shape;

bool parse_value(std::string_view text, bool& value) {
  for (const std::string_view yes : {"true", "yes", "on", "1"}) {
    if (text == yes) return value = true;
  }
  for (const std::string_view no : {"false", "no", "off", "0"}) {
    if (text == no) return !(value = false);
  }
  return false;
}

bool parse_value(std::string_view text, std::string& value) {
  value = text;
  return true;
}

bool parse_value(std::string_view text, Replicas& value) {
  const std::optional<Replicas> read = read_replicas(text);
  value = read.value_or(value);
  return read.has_value();
}

template <class Number>
  requires is_number<Number>
bool parse_value(std::string_view text, Number& value) {
  if constexpr (std::is_floating_point_v<Number>) {
    if (text == ".inf") text = "inf";
    if (text == "-.inf") text = "-inf";
    if (text == ".nan") text = "nan";
  }
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  // Some readers would take 010 for eight.
  if (digits.size() > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9') return false;
  Number parsed{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (error != std::errc{} || end != text.data() + text.size()) return false;
  value = parsed;
  return true;
}

std::string print_value(bool value) { return value ? "true" : "false"; }
std::string print_value(const std::string& value) { return value; }
std::string print_value(const Replicas& value) { return to_string(value); }

template <class Number>
  requires is_number<Number> std::string print_value(Number value) {
    if constexpr (std::is_floating_point_v<Number>) {
      if (std::isnan(value)) return ".nan";
      if (std::isinf(value)) return value > 0 ? ".inf" : "-.inf";
    }
    std::array<char, 32> digits{};  // the shortest text that reads back as the same number
    return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
  }

template <class Value>
bool value_within(const Value& value, const Range& range) {
  if constexpr (is_number<Value>) return range.contains(static_cast<long double>(value));
  if constexpr (std::is_same_v<Value, Replicas>) {
    return value.least >= 1 && value.least <= value.most && range.contains(value.least) && range.contains(value.most);
  }
  return true;
}

template <class Value>
std::string finite_text(std::string_view text) {
  if constexpr (std::is_floating_point_v<Value>) {
    if (text == ".inf" || text == "-.inf") text.remove_prefix(text.find('i'));
    long double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (end != text.data() + text.size() || error == std::errc::invalid_argument) return {};
    using Limits = std::numeric_limits<Value>;
    const long double size = std::abs(number);
    const bool fits = size == 0 || (size >= Limits::denorm_min() && size <= Limits::max()) || std::isnan(size);
    if (fits && error == std::errc{}) return {};
    return std::string("a finite ") + (std::is_same_v<Value, float> ? "float" : "double") + " (up to " +
           print_value(Limits::max()) + ", down to " + print_value(Limits::denorm_min()) + ")";
  }
  return {};
}

// The differences between a value, an optional and a list of it.
template <class Value>
struct One {
  static constexpr Shape shape = Shape::one;
  static bool parse(void* field, std::string_view text) { return parse_value(text, *static_cast<Value*>(field)); }
  static void clear(void*) {}
  static std::vector<std::string> print(const void* field) { return {print_value(*static_cast<const Value*>(field))}; }
  static bool within(const void* field, const Range& range) {
    return value_within(*static_cast<const Value*>(field), range);
  }
};

template <class Value>
struct Optional {
  static constexpr Shape shape = Shape::optional;
  static bool parse(void* field, std::string_view text) {
    Value value{};
    if (!parse_value(text, value)) return false;
    *static_cast<std::optional<Value>*>(field) = std::move(value);
    return true;
  }
  static void clear(void* field) { static_cast<std::optional<Value>*>(field)->reset(); }
  static std::vector<std::string> print(const void* field) {
    const auto& value = *static_cast<const std::optional<Value>*>(field);
    return value ? std::vector<std::string>{print_value(*value)} : std::vector<std::string>{};
  }
  static bool within(const void* field, const Range& range) {
    const auto& value = *static_cast<const std::optional<Value>*>(field);
    return !value || value_within(*value, range);
  }
};

template <class Value>
struct List {
  static constexpr Shape shape = Shape::list;
  static bool parse(void* field, std::string_view text) {
    Value value{};
    if (!parse_value(text, value)) return false;
    static_cast<std::vector<Value>*>(field)->push_back(std::move(value));
    return true;
  }
  static void clear(void* field) { static_cast<std::vector<Value>*>(field)->clear(); }
  static std::vector<std::string> print(const void* field) {
    std::vector<std::string> texts;
    for (const auto& value : *static_cast<const std::vector<Value>*>(field)) texts.push_back(print_value(value));
    return texts;
  }
  static bool within(const void* field, const Range& range) {
    for (const auto& value : *static_cast<const std::vector<Value>*>(field)) {
      if (!value_within(value, range)) return false;
    }
    return true;
  }
};

template <class Value>
constexpr Kind kind_of() {
  if constexpr (std::is_same_v<Value, bool>) return Kind::boolean;
  if constexpr (std::is_same_v<Value, std::string>) return Kind::string;
  if constexpr (std::is_same_v<Value, Replicas>) return Kind::replicas;
  return std::is_integral_v<Value> ? Kind::integer : Kind::number;
}

template <class Value>
constexpr Range limits_of() {
  if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
    return range(std::numeric_limits<Value>::min(), std::numeric_limits<Value>::max());
  }
  if constexpr (std::is_same_v<Value, Replicas>) return at_least(1);
  return {};
}

template <class Value, class Shaped>
const FieldType& type_of() {
  static constexpr FieldType kType{.kind = kind_of<Value>(),
                                   .shape = Shaped::shape,
                                   .limits = limits_of<Value>(),
                                   .choices = {},
                                   .parse = &Shaped::parse,
                                   .clear = &Shaped::clear,
                                   .print = &Shaped::print,
                                   .within = &Shaped::within,
                                   .finite = &finite_text<Value>};
  return kType;
}

}  // namespace

FieldType one_of(std::span<const std::string_view> names) {
  FieldType type = PlainTypes<std::string>::one();
  type.kind = FieldType::Kind::choice;
  type.choices = names;
  return type;
}

template <PlainValue T>
const FieldType& PlainTypes<T>::one() {
  return type_of<T, One<T>>();
}

template <PlainValue T>
const FieldType& PlainTypes<T>::optional() {
  return type_of<T, Optional<T>>();
}

template <PlainValue T>
const FieldType& PlainTypes<T>::list() {
  return type_of<T, List<T>>();
}

template struct PlainTypes<bool>;
template struct PlainTypes<signed char>;
template struct PlainTypes<unsigned char>;
template struct PlainTypes<short>;
template struct PlainTypes<unsigned short>;
template struct PlainTypes<int>;
template struct PlainTypes<unsigned int>;
template struct PlainTypes<long>;
template struct PlainTypes<unsigned long>;
template struct PlainTypes<long long>;
template struct PlainTypes<unsigned long long>;
template struct PlainTypes<float>;
template struct PlainTypes<double>;
template struct PlainTypes<std::string>;
template struct PlainTypes<Replicas>;

}  // namespace lp::internal
