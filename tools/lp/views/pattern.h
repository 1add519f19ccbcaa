#pragma once
// An extended regular expression of POSIX. Unlike std::regex, it does not run out of stack on long lines. The time that
// it takes can grow with the square of a line, so only the beginning of a long line is tried. A value of its owner; any
// thread may ask whether lines match.

#include <regex.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace lp::tool {

class Pattern {
 public:
  static constexpr std::size_t kLongestTried = std::size_t{1} << 14;  // bytes of a line

  // Throws CommandError(usage) with the reason for a text that is no expression, and for one that refers
  // back to a part of itself, as \1 does: POSIX has none, and a line of some hundred bytes could take minutes.
  Pattern(const std::string& text, bool ignore_case);
  ~Pattern() { regfree(&compiled_); }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  // Whether the first kLongestTried bytes of the line match.
  bool matches(std::string_view line) const;

 private:
  regex_t compiled_{};
};

}  // namespace lp::tool
