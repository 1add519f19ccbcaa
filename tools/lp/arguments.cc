#include "tools/lp/arguments.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "lp/base/message.h"
#include "tools/lp/refusal.h"

namespace lp::tool {
namespace {

std::string unknown_flag(const std::string& word, std::span<const Flag> flags) {
  std::vector<std::string> names;
  for (const Flag& flag : flags) names.emplace_back(flag.name);
  const std::string name = word.substr(word.find_first_not_of('-'));
  return "there is no flag " + word + did_you_mean(name, names, "--");
}

}  // namespace

Arguments::Arguments(std::span<const std::string> given, std::span<const Flag> flags, bool passes) {
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string& word = given[i];
    if (word == "--") {
      rest_.assign(given.begin() + static_cast<std::ptrdiff_t>(i) + 1, given.end());
      return;
    }
    if (word.size() < 2 || word[0] != '-') {
      words_.push_back(word);
      continue;
    }
    const bool is_long = word[1] == '-';
    const std::size_t equals = is_long ? word.find('=') : std::string::npos;
    const std::string name =
        is_long ? word.substr(2, equals == std::string::npos ? equals : equals - 2) : word.substr(1, 1);
    const auto at = std::find_if(flags.begin(), flags.end(), [&](const Flag& flag) {
      return is_long ? same_name(flag.name, name) : flag.letter == name[0];
    });
    const bool attached = !is_long && word.size() > 2;  // -n5
    if (at == flags.end() || (attached && at->value.empty())) {
      if (!passes) throw Refusal(Exit::usage, unknown_flag(word.substr(0, equals), flags));
      words_.push_back(word);
    } else if (at->value.empty()) {
      if (equals != std::string::npos) throw Refusal(Exit::usage, "--" + std::string(at->name) + " takes no value");
      values_[std::string(at->name)] = "";
    } else if (equals != std::string::npos || attached) {
      values_[std::string(at->name)] = word.substr(attached ? 2 : equals + 1);
    } else if (i + 1 < given.size()) {
      values_[std::string(at->name)] = given[++i];
    } else {
      throw Refusal(Exit::usage, word + " needs a value: --" + std::string(at->name) + "=" + std::string(at->value));
    }
  }
}

std::string Arguments::value(std::string_view flag) const {
  const auto at = values_.find(flag);
  return at == values_.end() ? std::string() : at->second;
}

double Arguments::seconds(std::string_view flag, double otherwise) const {
  if (!has(flag)) return otherwise;
  const double result = parse_seconds(value(flag));
  if (result < 0) {
    throw Refusal(Exit::usage,
                  "--" + std::string(flag) + "=" + value(flag) + ": a duration is like 90, 1.5s, 10m, 2h or 3d");
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

}  // namespace lp::tool
