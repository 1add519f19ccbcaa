#pragma once
// Converts a resolved configuration to text and back. The launcher writes it once, and every process of the run reads
// it instead of reading flags and files again. The text is YAML that --config takes too. Any thread.

#include <string>
#include <string_view>

#include "lp/config/bind.h"
#include "lp/config/yaml.h"
#include "lp/config/yaml_fields.h"

namespace lp {
// Returns every field of `config` as text. from_yaml gives exactly these values again: floats to the last bit, strings
// of any bytes. Throws Error(failed) if a value lies outside its range, or if all values take more than kLargestYaml
// bytes.
template <Aggregate T>
std::string to_yaml(const T& config) {
  return print_yaml(bind(const_cast<T&>(config)));  // print_yaml only reads
}

// Returns the configuration that to_yaml wrote. Throws Error(failed) if the text does not describe a T.
template <Aggregate T>
T from_yaml(std::string_view text) {
  T config{};
  const std::string name = "resolved configuration";
  assign_yaml(bind(config), parse_yaml(text, name), name);
  return config;
}

}  // namespace lp
