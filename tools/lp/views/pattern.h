#pragma once
// An extended regular expression of POSIX. Unlike std::regex, it does not run out of stack on long lines. A value of
// its owner; any thread may ask whether lines match.

#include <regex.h>

#include <string>
#include <string_view>

namespace lp::tool {

class Pattern {
 public:
  // Throws CommandError(usage) with the reason for a text that is no expression.
  Pattern(const std::string& text, bool ignore_case);
  ~Pattern() { regfree(&compiled_); }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  bool matches(std::string_view line) const;

 private:
  regex_t compiled_{};
};

}  // namespace lp::tool
