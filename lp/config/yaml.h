#pragma once
// A YAML document as a tree, each value with its place in the file: what the rest of lp/config reads.
//
// Files come from anywhere, so everything is bounded: their size, their depth, and what they may contain. Aliases,
// merge keys, directives, more than one document, and tags other than !!binary are refused. Errors (failed) begin with
// "file:line:column". Values; a tree belongs to one thread.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lp {

inline constexpr std::size_t kLargestYaml = std::size_t{1} << 20;  // bytes
inline constexpr int kDeepestYaml = 16;                            // maps and lists inside one another

struct YamlPlace {
  int line = 1;
  int column = 1;
};

struct YamlNode {
  enum class Kind { null, scalar, list, map };

  Kind kind = Kind::null;
  YamlPlace place{};
  std::string text{};      // scalar: its bytes
  bool is_string = false;  // scalar: in quotes, a block, or !!binary: never a number
  std::string key{};       // of a member of a map
  YamlPlace key_place{};
  std::vector<YamlNode> items{};  // list: its elements; map: its members, in order, each key once

  // The member of a map, where dashes in its key count as underscores; null if there is none.
  const YamlNode* find(std::string_view name) const;
};

// The Error (failed) "file:line:column: what".
[[noreturn]] void refuse(YamlPlace place, const std::string& file, const std::string& what);

// "a map", "an empty value", "\"64\" in quotes": for messages.
std::string describe(const YamlNode& node);

// The document; a map without members if it is empty. `file` is for messages.
YamlNode parse_yaml(std::string_view text, const std::string& file);

// The bytes of a regular file, or with "-" of standard input: at most kLargestYaml.
std::string read_config_file(const std::string& path);

}  // namespace lp
