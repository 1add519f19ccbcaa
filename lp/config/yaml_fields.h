#pragma once
// Converts between YAML and the fields of a configuration. Pure functions of their arguments.

#include <span>
#include <string>

#include "lp/config/bind.h"
#include "lp/config/yaml.h"

namespace lp {

// Sets the fields that the members of `map` name; nested maps are nested aggregates. The caller reads members whose
// names are in `others`. Errors (failed): a key that is no field, a key that is given twice, an unexpected value.
void assign_yaml(const Binding& binding, const YamlNode& map, const std::string& file,
                 std::span<const std::string> others = {});

// Returns every field as YAML: parse_yaml and assign_yaml restore exactly these values. Error (failed): a value outside
// its range, or more text than parse_yaml takes.
std::string print_yaml(const Binding& binding);

}  // namespace lp
