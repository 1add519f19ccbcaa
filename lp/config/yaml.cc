#include "lp/config/yaml.h"

#include <algorithm>
#include <array>
#include <set>
#include <sstream>
#include <utility>

#include <yaml-cpp/binary.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "lp/base/error.h"
#include "lp/base/file.h"
#include "lp/base/text.h"
#include "lp/base/utf8.h"

namespace lp {
namespace {

YamlLocation location_of(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

// Checks base64 (RFC 4648, section 4), because yaml-cpp's decoder reads outside its table when a byte is not ASCII, and
// drops incomplete groups.
bool is_base64(std::string_view text) {
  const auto digit = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
  };
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  return text.size() % 4 == 0 && std::all_of(text.begin(), text.end() - padding, digit);
}

// Builds the tree from the parser's events. It refuses a document that is too deep before the parser, which recurses,
// goes there.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const std::string& file) : file_(file) {}

  YamlNode take() && { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnAnchor(const YAML::Mark& mark, const std::string&) override { refuse(mark, "anchors are not supported"); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { refuse(mark, "aliases are not supported"); }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add(mark, anchor, YamlNode::Kind::null); }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    YamlNode scalar = node(mark, anchor, YamlNode::Kind::scalar);
    scalar.is_string = tag != "?";
    scalar.text = text;
    if (tag == "tag:yaml.org,2002:binary") {
      if (!is_base64(text)) refuse(mark, "!!binary: expected base64 without spaces, got " + quote(text));
      const std::vector<unsigned char> bytes = YAML::DecodeBase64(text);
      scalar.text.assign(bytes.begin(), bytes.end());
    } else if (tag != "?" && tag != "!") {
      refuse(mark, "the tag " + quote(tag) + " is not supported");
    }
    add(std::move(scalar));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlNode::Kind::list);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlNode::Kind::map);
  }
  void OnMapEnd() override { close(); }

 private:
  // A list or map whose end has not come.
  struct Open {
    YamlNode node;
    std::set<std::string> keys{};
    bool has_key = false;  // in a map: `key` waits for its value
    std::string key{};
    YamlLocation key_location{};
  };

  [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& what) const {
    lp::refuse(location_of(mark), file_, what);
  }

  YamlNode node(const YAML::Mark& mark, YAML::anchor_t anchor, YamlNode::Kind kind) const {
    if (anchor != 0) refuse(mark, "anchors are not supported");
    YamlNode made;
    made.kind = kind;
    made.location = location_of(mark);
    return made;
  }

  bool expects_key() const {
    return !open_.empty() && open_.back().node.kind == YamlNode::Kind::map && !open_.back().has_key;
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YamlNode::Kind kind) {
    if (tag != "?" && tag != "!" && !tag.empty()) refuse(mark, "the tag " + quote(tag) + " is not supported");
    if (expects_key()) refuse(mark, "a key must be a plain word");
    if (open_.size() == kDeepestYaml) {
      refuse(mark, "more than " + std::to_string(kDeepestYaml) + " maps and lists inside one another");
    }
    open_.push_back({.node = node(mark, anchor, kind)});
  }

  void close() {
    YamlNode done = std::move(open_.back().node);
    open_.pop_back();
    add(std::move(done));
  }

  void add(const YAML::Mark& mark, YAML::anchor_t anchor, YamlNode::Kind kind) { add(node(mark, anchor, kind)); }

  void add(YamlNode added) {
    if (open_.empty()) {
      root_ = std::move(added);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == YamlNode::Kind::list) {
      parent.node.items.push_back(std::move(added));
    } else if (parent.has_key) {
      added.key = std::move(parent.key);
      added.key_location = parent.key_location;
      parent.has_key = false;
      parent.node.items.push_back(std::move(added));
    } else {
      add_key(parent, added);
    }
  }

  void add_key(Open& map, YamlNode& scalar) const {
    if (scalar.kind != YamlNode::Kind::scalar) lp::refuse(scalar.location, file_, "a key must be a plain word");
    if (scalar.text == "<<") lp::refuse(scalar.location, file_, "merge keys are not supported");
    if (!map.keys.insert(scalar.text).second) {
      lp::refuse(scalar.location, file_, "the key " + quote(scalar.text) + " is given twice");
    }
    map.key = std::move(scalar.text);
    map.key_location = scalar.location;
    map.has_key = true;
  }

  const std::string& file_;
  std::vector<Open> open_;
  YamlNode root_;
};

// Checks that YAML is text: the parser would cut off or replace anything else silently.
void check_characters(std::string_view text, const std::string& file) {
  const auto control = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n' && c != '\r' && c != '\t') || byte == 0x7F;
  };
  const std::string_view valid = text.substr(0, valid_utf8_prefix(text));
  const auto bad = std::find_if(valid.begin(), valid.end(), control);
  if (bad == text.end()) return;
  const std::string_view before(valid.begin(), bad);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const auto column = before.size() - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0
  refuse({static_cast<int>(line), static_cast<int>(column)}, file,
         std::string("not a text file: a byte here is ") + (bad == valid.end() ? "no UTF-8" : "a control character"));
}

}  // namespace

std::string place_text(YamlLocation location, const std::string& file) {
  return file + ":" + std::to_string(location.line) + ":" + std::to_string(location.column);
}

void refuse(YamlLocation location, const std::string& file, const std::string& what) {
  throw Error(ErrorKind::failed, place_text(location, file) + ": " + what);
}

const YamlNode* YamlNode::find(std::string_view name) const {
  for (const YamlNode& member : items) {
    if (same_name(name, member.key)) return &member;
  }
  return nullptr;
}

std::string describe(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::null: return "an empty value";
    case YamlNode::Kind::list: return "a list";
    case YamlNode::Kind::map: return "a map";
    case YamlNode::Kind::scalar: break;
  }
  return node.is_string ? "the string " + quote(node.text) : quote(node.text);
}

YamlNode parse_yaml(std::string_view text, const std::string& file) {
  if (text.size() > kLargestYaml) {
    throw Error(ErrorKind::failed, file + ": the file is larger than " + std::to_string(kLargestYaml) +
                                       " bytes, the limit for a configuration");
  }
  check_characters(text, file);
  std::istringstream stream{std::string(text)};
  TreeBuilder tree(file);
  try {
    YAML::Parser parser(stream);
    parser.HandleNextDocument(tree);
    TreeBuilder more(file);
    if (parser.HandleNextDocument(more)) throw Error(ErrorKind::failed, file + ": holds more than one YAML document");
  } catch (const YAML::Exception& error) {
    refuse(location_of(error.mark), file, "not YAML: " + error.msg);
  }
  YamlNode root = std::move(tree).take();
  if (root.kind == YamlNode::Kind::null) root.kind = YamlNode::Kind::map;
  if (root.kind != YamlNode::Kind::map) {
    refuse(root.location, file, "expected `key: value` lines, got " + describe(root));
  }
  return root;
}

namespace {

std::string read_standard_input() {
  std::string text;
  std::array<char, 4096> bytes;
  while (const std::size_t got = std::fread(bytes.data(), 1, bytes.size(), stdin)) {
    text.append(bytes.data(), got);
    if (text.size() > kLargestYaml) {
      throw Error(ErrorKind::failed, "standard input has more than the " + std::to_string(kLargestYaml) +
                                         " bytes that a configuration may have");
    }
  }
  return text;
}

}  // namespace

std::string read_config_file(const std::string& path) {
  if (path == "-") return read_standard_input();
  return read_text(path, kLargestYaml);
}

}  // namespace lp
