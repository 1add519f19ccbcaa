#include "lp/config/command_words.h"

#include <algorithm>
#include <utility>

#include <boost/program_options/cmdline.hpp>
#include <boost/program_options/errors.hpp>
#include <boost/program_options/option.hpp>
#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <boost/program_options/value_semantic.hpp>

namespace lp::internal {
namespace {

namespace po = boost::program_options;
using Value = FlagSyntax::Value;

constexpr int kStyle = po::command_line_style::allow_long | po::command_line_style::long_allow_adjacent |
                       po::command_line_style::long_allow_next | po::command_line_style::allow_short |
                       po::command_line_style::allow_dash_for_short | po::command_line_style::short_allow_adjacent |
                       po::command_line_style::short_allow_next;

po::options_description description(std::span<const FlagSyntax> flags) {
  po::options_description known;
  for (const FlagSyntax& flag : flags) {
    const std::string letter = flag.letter == 0 ? std::string() : std::string(",") + flag.letter;
    const std::string names = flag.name + letter;
    if (flag.value == Value::none) {
      known.add_options()(names.c_str(), "");
    } else {
      auto* const text = po::value<std::string>();
      known.add_options()(names.c_str(), flag.value == Value::optional ? text->implicit_value("") : text);
    }
  }
  return known;
}

// Splits a long flag from its value. Boost.Program_options would refuse an empty value, and knows one spelling only.
std::vector<po::option> long_flag(std::vector<std::string>& words) {
  const std::string word = words.front();
  if (!word.starts_with("--")) return {};
  po::option flag(flag_name(word), {});
  if (const std::size_t equals = word.find('='); equals != std::string::npos) {
    flag.value.push_back(word.substr(equals + 1));
  }
  flag.original_tokens.push_back(word);
  words.erase(words.begin());
  return {flag};
}

std::size_t find(std::span<const FlagSyntax> flags, const std::string& name) {
  return static_cast<std::size_t>(
      std::find_if(flags.begin(), flags.end(), [&](const FlagSyntax& one) { return one.name == name; }) -
      flags.begin());
}

void add(const po::option& option, std::span<const FlagSyntax> flags, CommandWords& all) {
  if (option.unregistered || option.string_key.empty()) {
    all.words.push_back(option.original_tokens.front());
    return;
  }
  GivenFlag given{.flag = find(flags, option.string_key)};
  const bool is_next_word = option.original_tokens.size() > 1;
  if (is_next_word && option.value.front().starts_with("--")) throw FlagMistake{given.flag, /*lacks_value=*/true};
  // Boost.Program_options lets an optional value be the next word, too.
  const bool is_stray = is_next_word && flags[given.flag].value == Value::optional;
  if (!option.value.empty() && !is_stray) given.value = option.value.front();
  all.flags.push_back(std::move(given));
  if (is_stray) all.words.push_back(option.value.front());
}

}  // namespace

std::string flag_name(const std::string& word) {
  std::string name = word.substr(std::min<std::size_t>(2, word.size()));
  name.resize(std::min(name.find('='), name.size()));
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

CommandWords split_command_words(std::span<const std::string> words, std::span<const FlagSyntax> flags) {
  const auto end = std::find(words.begin(), words.end(), "--");
  CommandWords all;
  if (end != words.end()) all.rest.emplace(end + 1, words.end());
  const po::options_description known = description(flags);
  try {
    const po::parsed_options parsed = po::command_line_parser(std::vector<std::string>(words.begin(), end))
                                          .options(known)
                                          .style(kStyle)
                                          .extra_style_parser(long_flag)
                                          .allow_unregistered()
                                          .run();
    for (const po::option& option : parsed.options) add(option, flags, all);
  } catch (const po::invalid_command_line_syntax& error) {
    const bool lacks_value = error.kind() == po::invalid_command_line_syntax::missing_parameter;
    throw FlagMistake{find(flags, flag_name(error.get_option_name())), lacks_value};
  }
  return all;
}

}  // namespace lp::internal
