#pragma once
// The command line of one command: flags with and without values, and the words between and after them. Values.

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lp::tool {

struct Flag {
  std::string_view name;   // "since", for --since
  char letter = 0;         // 'f', for -f; 0: none
  std::string_view value;  // the value's name in the help, "TIME"; empty: the flag has no value
  std::string_view help;
};

class Arguments {
 public:
  // Throws CommandError(usage) for a flag that is not among `flags`, or that lacks its value. The words after "--" are
  // the rest. With `passes`, unknown flags count as words, because they are for another program.
  Arguments(std::span<const std::string> given, std::span<const Flag> flags, bool passes);

  bool has(std::string_view flag) const { return values_.find(flag) != values_.end(); }
  // Empty when the flag was not given.
  std::string value(std::string_view flag) const;
  // A duration in seconds, "90", "1.5s", "10m", "2h", "3d"; `otherwise` when the flag was not given.
  double seconds(std::string_view flag, double otherwise) const;
  const std::vector<std::string>& words() const { return words_; }
  const std::vector<std::string>& rest() const { return rest_; }

 private:
  std::map<std::string, std::string, std::less<>> values_;
  std::vector<std::string> words_;
  std::vector<std::string> rest_;
};

// Throws CommandError(failed), with the remedy, when a command cannot write its --output there: it is a directory, or
// in none.
void check_output(const std::string& file);

// Parses "1.5s" and the like into seconds; negative for malformed text.
double parse_seconds(std::string_view text);

}  // namespace lp::tool
