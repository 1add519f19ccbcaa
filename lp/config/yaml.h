#pragma once
// A YAML document as a tree, each value with its place in the file. The rest of lp/config reads this tree.
//
// Files come from anywhere, so everything is bounded: their size, their depth, and their content. Aliases, merge keys,
// directives, more than one document, and tags other than !!binary are refused. Errors (failed) begin with
// "file:line:column". Values; a tree belongs to one thread.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lp {

inline constexpr std::size_t kLargestYaml = std::size_t{1} << 20;  // bytes
inline constexpr int kDeepestYaml = 16;                            // depth of nested maps and lists

struct YamlLocation {
  int line = 1;
  int column = 1;
};

struct YamlNode {
  enum class Kind { null, scalar, list, map };

  Kind kind = Kind::null;
  YamlLocation location{};
  std::string text{};      // scalar: its bytes
  bool is_string = false;  // scalar: it is in quotes, a block, or !!binary, and never a number
  std::string key{};       // member of a map: its key
  YamlLocation key_location{};
  std::vector<YamlNode> items{};  // list: its elements; map: its members, in order, each key once

  // Returns the member of a map, where dashes in its key count as underscores; null if there is none.
  const YamlNode* find(std::string_view name) const;
};

// "file:line:column".
std::string place_text(YamlLocation location, const std::string& file);
// Throws the Error (failed) "file:line:column: what".
[[noreturn]] void refuse(YamlLocation location, const std::string& file, const std::string& what);

// Returns "a map", "an empty value", "\"64\" in quotes": for messages.
std::string describe(const YamlNode& node);

// Returns the document, or a map without members if it is empty. `file` is for messages.
YamlNode parse_yaml(std::string_view text, const std::string& file);

// Returns the bytes of a regular file, or of standard input for "-": at most kLargestYaml.
std::string read_config_file(const std::string& path);

}  // namespace lp
