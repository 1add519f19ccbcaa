#include "lp/config/yaml_fields.h"

#include <algorithm>
#include <set>
#include <vector>

#include <yaml-cpp/binary.h>
#include <yaml-cpp/null.h>

#include "lp/base/error.h"
#include "lp/base/json.h"
#include "lp/base/text.h"
#include "lp/base/utf8.h"

namespace lp {
namespace {

using Kind = internal::FieldType::Kind;
using Shape = internal::FieldType::Shape;

class Assignment {
 public:
  Assignment(const Binding& binding, const std::string& file) : binding_(binding), file_(file) {}

  void assign_members(const YamlNode& map, const std::string& section, std::span<const std::string> others) {
    for (const YamlNode& member : map.items) {
      const auto is_name = [&](const std::string& other) { return same_name(other, member.key); };
      const auto other = std::find_if(others.begin(), others.end(), is_name);
      if (other == others.end()) {
        assign_member(member, section, others);
      } else {
        see(*other, member);
      }
    }
  }

 private:
  void assign_member(const YamlNode& member, const std::string& section, std::span<const std::string> others) {
    const std::string path = section.empty() ? member.key : section + "." + member.key;
    if (member.key.find('.') == std::string::npos) {
      if (const BoundField* field = binding_.find(path)) return assign_field(*field, member);
      if (!binding_.children(path).empty()) {
        if (member.kind != YamlNode::Kind::map) {
          refuse(member.location, file_, path + ": expected a map, got " + describe(member));
        }
        return assign_members(member, path, {});
      }
    }
    if (binding_.find(path) != nullptr)
      refuse(member.key_location, file_, path + ": in a file, write a nested map instead of a name with a dot");
    std::vector<std::string> names = binding_.children(section);
    names.insert(names.end(), others.begin(), others.end());
    for (const BoundField& field : binding_.fields()) names.push_back(field.path);
    refuse(member.key_location, file_, "unknown key " + quote(path) + did_you_mean(path, names));
  }

  void see(const std::string& path, const YamlNode& member) {
    if (!seen_.insert(path).second) refuse(member.key_location, file_, path + " is given twice");
  }

  void assign_field(const BoundField& field, const YamlNode& node) {
    see(field.path, node);
    const bool is_list = field.type->shape == Shape::list;
    if (node.kind == YamlNode::Kind::null && field.type->shape == Shape::optional) {
      field.assign({});
      return;
    }
    const YamlNode::Kind wanted = is_list ? YamlNode::Kind::list : YamlNode::Kind::scalar;
    if (node.kind != wanted) refuse_value(field, node);
    const std::span<const YamlNode> values = is_list ? std::span(node.items) : std::span(&node, 1);
    const bool takes_strings = field.type->kind == Kind::string || field.type->kind == Kind::choice;
    std::vector<std::string> texts;
    texts.reserve(values.size());
    for (const YamlNode& value : values) {
      if (value.kind != YamlNode::Kind::scalar || (value.is_string && !takes_strings)) refuse_value(field, value);
      texts.push_back(value.text);
    }
    const std::size_t accepted = field.assign(texts);
    if (accepted < texts.size()) refuse_value(field, values[accepted]);
  }

  [[noreturn]] void refuse_value(const BoundField& field, const YamlNode& node) const {
    refuse(node.location, file_,
           field.path + ": expected " + field.expected_instead_of(node.text) + ", got " + describe(node));
  }

  const Binding& binding_;
  const std::string& file_;
  std::set<std::string> seen_;
};

// A JSON string is a YAML string, so text is written in JSON's quotes. Other bytes become !!binary.
std::string print_string(const std::string& text) {
  if (is_utf8(text)) return to_json(text);
  return "!!binary \"" + YAML::EncodeBase64(reinterpret_cast<const unsigned char*>(text.data()), text.size()) + "\"";
}

std::string print_key(const std::string& name) { return YAML::IsNullString(name) ? to_json(name) : name; }

std::string print_value(const BoundField& field) {
  if (!field.in_range()) {
    const std::string value = join(field.type->print(field.value), ", ");
    throw Error(ErrorKind::failed, field.path + ": expected " + field.expected() + ", got " + quote(value));
  }
  std::vector<std::string> texts = field.type->print(field.value);
  const bool strings = field.type->kind == Kind::string || field.type->kind == Kind::choice;
  if (strings) std::transform(texts.begin(), texts.end(), texts.begin(), print_string);
  if (field.type->shape != Shape::list) return texts.empty() ? "null" : texts.front();
  return std::string("[").append(join(texts, ", ")).append("]");
}

}  // namespace

void assign_yaml(const Binding& binding, const YamlNode& map, const std::string& file,
                 std::span<const std::string> others) {
  Assignment(binding, file).assign_members(map, "", others);
}

std::string print_yaml(const Binding& binding) {
  std::string text;
  std::vector<std::string> open;  // the sections of the last line
  for (const BoundField& field : binding.fields()) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin <= field.path.size();) {
      const std::size_t end = std::min(field.path.find('.', begin), field.path.size());
      parts.push_back(field.path.substr(begin, end - begin));
      begin = end + 1;
    }
    std::size_t same = 0;
    while (same < open.size() && same + 1 < parts.size() && open[same] == parts[same]) ++same;
    for (; same + 1 < parts.size(); ++same) text += std::string(2 * same, ' ') + print_key(parts[same]) + ":\n";
    text += std::string(2 * same, ' ') + print_key(parts.back()) + ": " + print_value(field) + "\n";
    open.assign(parts.begin(), parts.end() - 1);
  }
  if (text.size() > kLargestYaml) {
    throw Error(ErrorKind::failed,
                "the configuration takes more than " + std::to_string(kLargestYaml) + " bytes as text");
  }
  return text;
}

}  // namespace lp
