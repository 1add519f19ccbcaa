#include "lp/config/bind.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "lp/base/text.h"

namespace lp {
namespace {

using internal::FieldType;
using Kind = FieldType::Kind;
using Shape = FieldType::Shape;

std::string print_limit(long double limit) {
  char text[48];
  const bool whole = std::floor(limit) == limit && std::fabs(limit) < 1e20L;
  std::snprintf(text, sizeof text, whole ? "%.0Lf" : "%.12Lg", limit);
  return text;
}

std::string value_name(const FieldType& type, bool many) {
  const auto name = [&](const char* one, const char* several) { return std::string(many ? several : one); };
  switch (type.kind) {
    case Kind::boolean: return name("true or false", "true or false");
    case Kind::integer: return name("an integer", "integers");
    case Kind::number: return name("a number", "numbers");
    case Kind::replicas: return name("an integer or a range (such as 2..8)", "integers or ranges (such as 2..8)");
    case Kind::string: return name("a string", "strings");
    case Kind::choice: break;
  }
  return "one of " + join(type.choices, ", ");
}

}  // namespace

std::string to_string(const Range& range) {
  const bool low = !std::isinf(range.low);
  const bool high = !std::isinf(range.high);
  if (low && high && !range.above_low) return "from " + print_limit(range.low) + " to " + print_limit(range.high);
  std::string text;
  if (low) text = (range.above_low ? "above " : "at least ") + print_limit(range.low);
  if (low && high) text += " and ";
  if (high) text += "at most " + print_limit(range.high);
  if (range.endless) text += ", or inf";
  return text;
}

std::string BoundField::flag() const {
  std::string text = "--" + path;
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

Range BoundField::range() const {
  Range both = type->limits;
  both.high = std::min(both.high, info.range.high);
  if (info.range.low >= both.low) {
    both.low = info.range.low;
    both.above_low = info.range.above_low;
  }
  both.endless = info.range.endless;
  return both;
}

std::string BoundField::expected() const {
  const std::string limits = to_string(range());
  std::string text = type->shape == Shape::list ? "a list of " : "";
  text += value_name(*type, type->shape == Shape::list);
  if (!limits.empty()) text += " " + limits;
  return text;
}

std::string BoundField::expected_instead_of(std::string_view text) const {
  const Range all = range();
  const bool limited = text.starts_with('-') ? !std::isinf(all.low) : !std::isinf(all.high) || all.endless;
  const std::string finite = type->finite == nullptr || limited ? "" : type->finite(text);
  return expected() + (finite.empty() ? "" : " that is " + finite);
}

bool BoundField::in_range() const { return type->within(value, info.range); }

std::size_t BoundField::assign(std::span<const std::string> texts) const {
  type->clear(value);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const bool known =
        type->choices.empty() || std::find(type->choices.begin(), type->choices.end(), texts[i]) != type->choices.end();
    if (!known || !type->parse(value, texts[i])) return i;
  }
  if (in_range()) return texts.size();
  std::size_t bad = 0;  // index of the first text whose value alone is out of range
  for (; bad + 1 < texts.size(); ++bad) {
    type->clear(value);
    type->parse(value, texts[bad]);
    if (!in_range()) break;
  }
  return bad;
}

void Binding::replace_type(std::string_view path, const FieldType& type) {
  for (BoundField& field : fields_) {
    if (field.path == path) field.type = &type;
  }
}

const BoundField* Binding::find(std::string_view path) const {
  for (const BoundField& field : fields_) {
    if (same_name(field.path, path)) return &field;
  }
  return nullptr;
}

std::vector<std::string> Binding::children(std::string_view section) const {
  const std::size_t skip = section.empty() ? 0 : section.size() + 1;
  std::vector<std::string> paths;
  for (const BoundField& field : fields_) {
    if (field.path.size() <= skip) continue;
    if (skip > 0 && (field.path[skip - 1] != '.' || !same_name(field.path.substr(0, skip - 1), section))) continue;
    std::string path = field.path.substr(0, field.path.find('.', skip));
    if (paths.empty() || paths.back() != path) paths.push_back(std::move(path));
  }
  return paths;
}

void Binding::add_field(std::string path, std::string_view name, void* value, const FieldType& type,
                        std::span<const FieldInfo> table) {
  BoundField field{std::move(path), value, &type, {}};
  for (const FieldInfo& info : table) {
    if (info.name == name) field.info = info;
  }
  fields_.push_back(std::move(field));
}

}  // namespace lp
