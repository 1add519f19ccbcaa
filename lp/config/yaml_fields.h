#pragma once
// Between YAML and the fields of a configuration. Pure functions of their arguments.

#include <span>
#include <string>
#include <string_view>

#include "lp/config/bind.h"
#include "lp/config/yaml.h"

namespace lp {

// Sets the fields that the members of `map` name; nested maps are nested aggregates. Members called as one of `others`
// are the caller's. Errors (failed): a key that is no field, one that is given twice, a value that is not what is
// expected.
void assign_yaml(const Binding& binding, const YamlNode& map, const std::string& file,
                 std::span<const std::string> others = {});

// Every field as YAML: parse_yaml and assign_yaml restore exactly these values. Error (failed): a value outside its
// range, or more text than parse_yaml takes.
std::string print_yaml(const Binding& binding);

}  // namespace lp
