#include "launchers/record/hyperparameters.h"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <system_error>

#include "lp/base/error.h"
#include "lp/base/utf8.h"
#include "lp/config/yaml.h"

namespace lp::launch {
namespace {

constexpr std::size_t kMostParameters = 200;
constexpr std::size_t kLongestValue = 200;

Hyperparameter value_of(const YamlNode& scalar) {
  if (scalar.is_string) return scalar.text;
  if (scalar.text == "true" || scalar.text == "false") return scalar.text == "true";
  double number = 0;
  const char* const end = scalar.text.data() + scalar.text.size();
  const auto [read, error] = std::from_chars(scalar.text.data(), end, number);
  if (error == std::errc() && read == end && std::isfinite(number)) return number;
  return scalar.text;
}

// A list as the command line has it: "32,16". Nothing for what is neither a value nor a list of values.
std::optional<Hyperparameter> read_parameter(const YamlNode& member) {
  if (member.kind == YamlNode::Kind::scalar) return value_of(member);
  if (member.kind != YamlNode::Kind::list) return std::nullopt;
  std::string text;
  for (const YamlNode& item : member.items) {
    if (item.kind != YamlNode::Kind::scalar) return std::nullopt;
    text += (&item == member.items.data() ? "" : ",") + item.text;
  }
  return text;
}

bool fits(const Hyperparameter& value) {
  const auto* const text = std::get_if<std::string>(&value);
  return text == nullptr || (text->size() <= kLongestValue && is_utf8(*text));
}

void add_members(const YamlNode& map, const std::string& before, std::map<std::string, Hyperparameter>& all) {
  for (const YamlNode& member : map.items) {
    if (all.size() >= kMostParameters) return;
    const std::string name = before + member.key;
    if (member.kind == YamlNode::Kind::map) add_members(member, name + ".", all);
    const std::optional<Hyperparameter> value = read_parameter(member);
    if (value.has_value() && fits(*value)) all[name] = *value;
  }
}

}  // namespace

std::map<std::string, Hyperparameter> hyperparameters_of(std::string_view configuration) {
  std::map<std::string, Hyperparameter> all;
  try {
    add_members(parse_yaml(configuration, "config.yaml"), "", all);
  } catch (const Error&) {  // TensorBoard then shows none
  }
  return all;
}

}  // namespace lp::launch
