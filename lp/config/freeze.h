#pragma once
// A resolved configuration as text, and back: the launcher freezes it once, and every process of the run thaws it
// instead of reading flags and files again. The text is YAML that --config takes too. Any thread.

#include <string>
#include <string_view>

#include "lp/config/bind.h"
#include "lp/config/yaml.h"
#include "lp/config/yaml_fields.h"

namespace lp {
// Every field of `config`. from_yaml gives exactly these values again: floats to the last bit, strings of any bytes.
// Error (failed) if a value lies outside its range, or all of them take more than kLargestYaml bytes.
template <Aggregate T>
std::string to_yaml(const T& config) {
  return print_yaml(bind(const_cast<T&>(config)));  // which only reads
}

// The configuration that to_yaml wrote. Error (failed) if the text is not of a T.
template <Aggregate T>
T from_yaml(std::string_view text) {
  T config{};
  const std::string name = "resolved configuration";
  assign_yaml(bind(config), parse_yaml(text, name), name);
  return config;
}

}  // namespace lp
