#include "launchers/record/hyperparameters.h"

#include <charconv>
#include <cmath>
#include <cstddef>
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

void add_members(const YamlNode& map, const std::string& before, std::map<std::string, Hyperparameter>& all) {
  for (const YamlNode& member : map.items) {
    if (all.size() >= kMostParameters) return;
    const std::string name = before + member.key;
    if (member.kind == YamlNode::Kind::map) add_members(member, name + ".", all);
    if (member.kind != YamlNode::Kind::scalar || member.text.size() > kLongestValue || !is_utf8(member.text)) continue;
    all[name] = value_of(member);
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
