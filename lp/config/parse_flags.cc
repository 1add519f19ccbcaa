#include "lp/config/parse_flags.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/value_semantic.hpp>

#include "lp/base/error.h"
#include "lp/base/text.h"
#include "lp/base/utf8.h"
#include "lp/config/command_words.h"
#include "lp/config/yaml.h"
#include "lp/config/yaml_fields.h"

namespace lp {
namespace {

namespace po = boost::program_options;
using internal::FieldType;

constexpr unsigned kColumns = 100;
constexpr std::size_t kLongestDefault = 24;  // longest default shown in the help, in bytes
const std::array<std::string, 2> kReserved{"groups", "launch"};

std::string value_name(const FieldType& type) {
  const std::string list = type.shape == FieldType::Shape::list ? ",..." : "";
  switch (type.kind) {
    case FieldType::Kind::boolean: return "bool" + list;
    case FieldType::Kind::integer: return "integer" + list;
    case FieldType::Kind::number: return "number" + list;
    case FieldType::Kind::replicas: return "range" + list;
    case FieldType::Kind::string: return "string" + list;
    case FieldType::Kind::choice: return "name";
  }
  return {};
}

std::string value_text(const BoundField& field) { return join(field.type->print(field.value), ","); }

std::string default_text(const BoundField& field) {
  std::string text = quote(value_text(field));  // escapes characters that would break the table
  text = text.substr(1, text.rfind('"') - 1);
  if (text.size() <= kLongestDefault) return text;
  text.resize(valid_utf8_prefix(std::string_view(text).substr(0, kLongestDefault)));
  return text + "...";
}

std::string help_of(const BoundField& field) {
  std::string help(field.info.help);
  const bool is_choice = field.type->kind == FieldType::Kind::choice;
  const std::string limits = is_choice ? field.expected() : to_string(field.info.range);
  if (!help.empty() && !limits.empty()) help += ", ";
  return help + limits + (field.info.may_change ? " [may change with --resume]" : "");
}

// Adds the flag of one field to the table that --help prints.
void add_option(const BoundField& field, po::options_description& options) {
  auto* value = po::value<std::string>()->value_name(value_name(*field.type));
  if (const std::string text = default_text(field); !text.empty()) value->default_value(text, text);
  options.add_options()(field.flag().substr(2).c_str(), value, help_of(field).c_str());
}
po::options_description options_of(const std::string& title, const Binding& binding) {
  po::options_description options(title);
  for (const BoundField& field : binding.fields()) add_option(field, options);
  return options;
}
po::options_description options_of(const HelpSection& section, const Binding& binding) {
  po::options_description options(section.title);
  for (const std::string& path : section.fields) {
    const BoundField* field = binding.find(path);
    if (field == nullptr)
      throw_failed("help_sections() names " + quote(path) + ", which is not a field of the configuration");
    add_option(*field, options);
  }
  return options;
}

struct Given {
  const BoundField* field;
  std::string text;
};

// The flags of a program and lp's own, and the values that a command line gives to them.
class KnownFlags {
 public:
  KnownFlags(const Binding& program, const Binding& launch) {
    for (const Binding* binding : {&program, &launch}) {
      for (const BoundField& field : binding->fields()) add(field);
    }
  }

  // The values, in the order of the command line.
  std::vector<Given> read(std::span<const char* const> words) const {
    const std::vector<std::string> texts(words.begin(), words.end());
    internal::CommandWords line;
    try {
      line = internal::split_command_words(texts, syntax_);
    } catch (const internal::FlagMistake& mistake) {  // every flag may have a value
      throw_failed(fields_[mistake.flag]->flag() + ": expected " + fields_[mistake.flag]->expected() + ", got nothing");
    }
    if (!line.words.empty()) refuse(line.words.front());
    if (line.rest.has_value()) refuse("--");
    std::vector<Given> all;
    std::set<std::size_t> seen;
    for (internal::GivenFlag& given : line.flags) {
      const BoundField* const field = fields_[given.flag];
      if (!seen.insert(given.flag).second) throw_failed(field->flag() + " is given twice");
      all.push_back({field, std::move(given.value).value_or("true")});
    }
    return all;
  }

 private:
  void add(const BoundField& field) {
    using Value = internal::FlagSyntax::Value;
    const bool is_switch = field.type->kind == FieldType::Kind::boolean && field.type->shape == FieldType::Shape::one;
    syntax_.push_back({.name = field.flag().substr(2), .value = is_switch ? Value::optional : Value::needed});
    fields_.push_back(&field);
  }

  [[noreturn]] void refuse(const std::string& word) const {
    if (!word.starts_with("--") || word == "--") {
      throw_failed("unexpected argument " + quote(word) +
                   ": a flag begins with --, and a bool flag takes its value with = (--flag=false)");
    }
    std::vector<std::string> names{"help"};
    for (const internal::FlagSyntax& flag : syntax_) names.push_back(flag.name);
    const std::string typed = word.substr(0, word.find('='));
    const std::string near = did_you_mean(typed.substr(2), names, "--");
    throw_failed("unknown flag " + quote(typed) + (near.empty() ? "; --help lists the flags" : near));
  }

  std::vector<internal::FlagSyntax> syntax_;
  std::vector<const BoundField*> fields_;  // the field of each syntax
};

// The end of what a brace encloses; the brace itself, if it has no end.
std::size_t brace_end(std::string_view text, std::size_t brace) {
  std::size_t depth = 0;
  for (std::size_t at = brace; at < text.size(); ++at) {
    if (text[at] == '{') ++depth;
    if (text[at] == '}' && --depth == 0) return at;
  }
  return brace;
}

// The parts between commas. Those in braces belong to a pattern of paths: {a,b}.
std::vector<std::string> elements_of(std::string_view text) {
  std::vector<std::string> out;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '{') at = brace_end(text, at);
    if (text[at] != ',') continue;
    out.emplace_back(text.substr(begin, at - begin));
    begin = at + 1;
  }
  if (!text.empty()) out.emplace_back(text.substr(begin));
  return out;
}

void assign_flag(const Given& given) {
  const BoundField& field = *given.field;
  std::vector<std::string> texts;
  if (field.type->shape == FieldType::Shape::list) {
    texts = elements_of(given.text);
  } else if (field.type->shape == FieldType::Shape::one || !given.text.empty()) {
    texts.push_back(given.text);
  }
  const std::size_t accepted = field.assign(texts);
  if (accepted < texts.size()) {
    throw_failed(field.flag() + ": expected " + field.expected_instead_of(texts[accepted]) + ", got " +
                 quote(texts[accepted]));
  }
}

struct ConfigFile {
  YamlNode root{};
  std::string name{};
};

ConfigFile config_file(std::string_view text, const std::string& name) { return {parse_yaml(text, name), name}; }

void assign_file(const ConfigFile& file, const Binding& program, const Binding& launch) {
  const auto& [root, name] = file;
  for (const YamlNode& member : root.items) {
    const bool is_reserved = std::find(kReserved.begin(), kReserved.end(), member.key) != kReserved.end();
    if (is_reserved || program.find(member.key) != nullptr || launch.find(member.key) == nullptr) continue;
    refuse(member.key_location, name,
           quote(member.key) + " is one of lp's own flags: in a file it stands under `launch:`");
  }
  assign_yaml(program, root, name, kReserved);
  const YamlNode* own = root.find("launch");
  if (own == nullptr || own->kind == YamlNode::Kind::null) return;
  if (own->kind != YamlNode::Kind::map) {
    refuse(own->location, name, "launch: expected a map of lp's own flags, got " + describe(*own));
  }
  if (const YamlNode* config = own->find("config")) {
    refuse(config->key_location, name, "launch: a file cannot have `config`, which would name another file");
  }
  assign_yaml(launch, *own, name);
}

std::vector<PlacedField> placed_fields(const ConfigFile& file, const Binding& program) {
  std::vector<PlacedField> out;
  for (const YamlNode& member : file.root.items) {
    const BoundField* const field = program.find(member.key);
    if (field != nullptr) out.push_back({field->path, place_text(member.key_location, file.name)});
  }
  return out;
}

// The values of an earlier run's fields, to find the changes.
class Values {
 public:
  void add(const BoundField& field) { values_.emplace_back(&field, field.type->print(field.value)); }

  // Returns a clause for each field that has another value now. Throws Error if some of these fields may not change
  // in the run that `run` describes.
  std::vector<std::string> changes(bool FieldInfo::*may, std::string_view run) const {
    std::vector<std::string> all;
    std::vector<std::string> wrong;
    for (const auto& [field, before] : values_) {
      const std::vector<std::string> now = field->type->print(field->value);
      if (now == before) continue;
      const std::string change = field->flag() + " is " + text(*field, now) + ", but was " + text(*field, before);
      (field->info.*may ? all : wrong).push_back(change);
    }
    if (!wrong.empty()) throw_failed(join(wrong, "; ") + " in " + std::string(run) + ": " + those_that_may(may));
    return all;
  }

 private:
  static std::string text(const BoundField& field, const std::vector<std::string>& values) {
    if (field.type->kind == FieldType::Kind::string) return quote(join(values, ","));
    if (values.empty()) return field.type->shape == FieldType::Shape::optional ? "not given" : "none";
    return join(values, ",");
  }
  std::string those_that_may(bool FieldInfo::*may) const {
    std::vector<std::string> flags;
    for (const auto& [field, before] : values_) {
      if (field->info.*may) flags.push_back(field->flag());
    }
    return flags.empty() ? "no field may change" : "only these may change: " + join(flags, ", ");
  }

  std::vector<std::pair<const BoundField*, std::vector<std::string>>> values_;
};

void check_names(const Binding& program, const Binding& launch) {
  for (const std::string& name : program.children("")) {
    const bool is_reserved = name == "help" || std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end();
    if (!is_reserved && launch.find(name) == nullptr) continue;
    throw_failed("the configuration has a field called " + name +
                 ", which is the name of a flag of lp; rename the field");
  }
}

// A default outside its range stands for a value that the user must give.
void check_given(const Binding& binding) {
  for (const BoundField& field : binding.fields()) {
    if (field.in_range()) continue;
    throw_failed(field.flag() + " must be given: " + field.expected() + "; its default is " + value_text(field));
  }
}

bool is_help(std::string_view word) { return word == "--help" || word == "-h"; }

// Returns the sections of help for the flags that are given beside --help. All fields keep their defaults.
std::vector<HelpSection> sections_for(std::span<const char* const> words, const Binding& program, const Binding& launch,
                                      const HelpSections& sections) {
  std::vector<const char*> others;
  std::copy_if(words.begin(), words.end(), std::back_inserter(others), [](const char* word) { return !is_help(word); });
  std::vector<std::string> paths;
  std::vector<std::pair<const BoundField*, std::vector<std::string>>> defaults;
  try {
    for (const Given& given : KnownFlags(program, launch).read(others)) {
      defaults.emplace_back(given.field, given.field->type->print(given.field->value));
      assign_flag(given);
      if (program.find(given.field->path) == given.field) paths.push_back(given.field->path);
    }
  } catch (const Error&) {
    // A user who asks for help may have mistyped a flag.
  }
  std::vector<HelpSection> out = sections(paths);
  for (const auto& [field, texts] : defaults) field->assign(texts);
  return out;
}

}  // namespace

CommandLine parse(int argc, const char* const* argv, const Binding& program, const Binding& launch,
                  const HelpSections& sections, const FindEarlier& find_earlier) {
  check_names(program, launch);
  const std::span<const char* const> words(argv + std::min(argc, 1), static_cast<std::size_t>(std::max(argc - 1, 0)));
  if (std::any_of(words.begin(), words.end(), is_help)) {
    const std::string name = argc > 0 ? std::filesystem::path(argv[0]).filename().string() : "program";
    const std::vector<HelpSection> shown =
        sections ? sections_for(words, program, launch, sections) : std::vector<HelpSection>{};
    return {.help = help_text(name, program, launch, shown)};
  }
  CommandLine line;
  const std::vector<Given> all = KnownFlags(program, launch).read(words);
  for (const Given& given : all) line.given.push_back(given.field->path);
  const BoundField* config = launch.find("config");
  std::optional<ConfigFile> file;
  for (const Given& given : all) {
    if (given.field == config && !given.text.empty()) file = config_file(read_config_file(given.text), given.text);
  }
  const auto assign_all = [&] {
    if (file.has_value()) assign_file(*file, program, launch);
    for (const Given& given : all) assign_flag(given);
  };
  assign_all();
  if (const auto earlier = find_earlier ? find_earlier() : std::nullopt) {
    const ConfigFile start = config_file(earlier->text, earlier->file);
    assign_file(start, program, launch);
    Values values;
    for (const BoundField& field : program.fields()) values.add(field);
    if (const YamlNode* own = start.root.find("launch")) {
      for (const YamlNode& member : own->items) values.add(*launch.find(member.key));
    }
    assign_all();
    line.changes = values.changes(&FieldInfo::may_change, "the run to resume");
  }
  if (file.has_value()) line.in_file = placed_fields(*file, program);
  const YamlNode* groups = file.has_value() ? file->root.find("groups") : nullptr;
  if (groups != nullptr) line.groups = read_placements(*groups, file->name);
  check_given(program);
  check_given(launch);
  return line;
}

std::string with_place(const CommandLine& line, const std::string& text) {
  for (const auto& [path, place] : line.in_file) {
    const std::string flag = BoundField{.path = path, .value = nullptr, .type = nullptr, .info = {}}.flag();
    const bool begins = text.starts_with(flag) && text.find_first_of(" :=", flag.size()) == flag.size();
    if (!begins || std::find(line.given.begin(), line.given.end(), path) != line.given.end()) continue;
    return place + ": " + path + text.substr(flag.size());
  }
  return text;
}

void check_adapted(const Binding& program, const EarlierValues& earlier) {
  std::vector<std::vector<std::string>> now;
  for (const BoundField& field : program.fields()) now.push_back(field.type->print(field.value));
  assign_yaml(program, parse_yaml(earlier.text, earlier.file), earlier.file, kReserved);
  Values values;
  for (const BoundField& field : program.fields()) values.add(field);
  for (std::size_t i = 0; i < now.size(); ++i) program.fields()[i].assign(now[i]);
  static_cast<void>(values.changes(&FieldInfo::may_adapt, "the run whose state is taken over"));
}

std::string help_text(const std::string& program_name, const Binding& program, const Binding& launch,
                      std::span<const HelpSection> sections) {
  po::options_description own = options_of("flags of every lp program", launch);
  own.add_options()("help,h", "print this text");
  po::options_description all(kColumns, kColumns / 2);
  if (sections.empty()) all.add(options_of("flags of " + program_name, program));
  for (const HelpSection& section : sections) all.add(options_of(section, program));
  all.add(own);
  std::ostringstream text;
  text << "usage: " << program_name << " [flags]\n" << all;
  return text.str();
}

}  // namespace lp
