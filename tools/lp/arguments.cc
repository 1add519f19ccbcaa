#include "tools/lp/arguments.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

#include "lp/base/text.h"
#include "lp/config/command_words.h"
#include "tools/lp/command_error.h"

namespace lp::tool {
namespace {

std::vector<internal::FlagSyntax> syntax_of(std::span<const Flag> flags) {
  using Value = internal::FlagSyntax::Value;
  std::vector<internal::FlagSyntax> all;
  for (const Flag& flag : flags) {
    all.push_back({std::string(flag.name), flag.letter, flag.value.empty() ? Value::none : Value::needed});
  }
  return all;
}

internal::CommandWords split(std::span<const std::string> given, std::span<const Flag> flags) {
  try {
    return internal::split_command_words(given, syntax_of(flags));
  } catch (const internal::FlagMistake& mistake) {
    const std::string name = "--" + std::string(flags[mistake.flag].name);
    throw CommandError(Exit::usage, mistake.lacks_value ? name + " needs a value: " + name + "=" +
                                                              std::string(flags[mistake.flag].value)
                                                        : name + " takes no value");
  }
}

void refuse_unknown(std::span<const std::string> words, std::span<const Flag> flags) {
  const auto unknown = std::find_if(words.begin(), words.end(),
                                    [](const std::string& word) { return word.size() > 1 && word.starts_with('-'); });
  if (unknown == words.end()) return;
  std::vector<std::string> names;
  for (const Flag& flag : flags) names.emplace_back(flag.name);
  const std::string typed = unknown->substr(0, unknown->find('='));
  throw CommandError(Exit::usage, "there is no flag " + typed + did_you_mean(internal::flag_name(typed), names, "--"));
}

}  // namespace

Arguments::Arguments(std::span<const std::string> given, std::span<const Flag> flags, bool passes) {
  internal::CommandWords line = split(given, flags);
  if (!passes) refuse_unknown(line.words, flags);
  for (internal::GivenFlag& one : line.flags) {
    const Flag& flag = flags[one.flag];
    std::string value = std::move(one.value).value_or("");
    if (value.empty() && (flag.value == "FILE" || flag.value == "DIRECTORY")) {
      throw CommandError(Exit::usage, "--" + std::string(flag.name) + " has no name of a " +
                                          (flag.value == "FILE" ? "file" : "directory") + ": --" +
                                          std::string(flag.name) + "=" + std::string(flag.value));
    }
    values_[std::string(flag.name)] = std::move(value);
  }
  words_ = std::move(line.words);
  rest_ = std::move(line.rest).value_or(std::vector<std::string>());
}

std::string Arguments::value(std::string_view flag) const {
  const auto at = values_.find(flag);
  return at == values_.end() ? std::string() : at->second;
}

double Arguments::seconds(std::string_view flag, double otherwise) const {
  if (!has(flag)) return otherwise;
  const double result = parse_seconds(value(flag));
  if (result < 0) {
    throw CommandError(Exit::usage, "--" + std::string(flag) + "=" + value(flag) +
                                        ": expected a duration such as 90, 1.5s, 10m, 2h or 3d");
  }
  return result;
}

double parse_seconds(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || number < 0) return -1;
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (unit.empty() || unit == "s") return number;
  if (unit == "m") return number * 60;
  if (unit == "h") return number * 3600;
  if (unit == "d") return number * 86400;
  return -1;
}

void check_output(const std::string& file) {
  std::error_code none;
  if (std::filesystem::is_directory(file, none)) {
    throw CommandError(Exit::failed, file + " is a directory: name a file in it with --output");
  }
  const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  if (!std::filesystem::is_directory(folder, none)) {
    throw CommandError(Exit::failed, file + " cannot be written: there is no directory " + folder.string());
  }
}

}  // namespace lp::tool
