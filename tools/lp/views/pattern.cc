#include "tools/lp/views/pattern.h"

#include <array>

#include "lp/base/text.h"
#include "tools/lp/command_error.h"

namespace lp::tool {

namespace {

// Whether a glibc expression refers back to a part of itself. In brackets, a backslash is one character of the set.
bool refers_back(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      if (++i < text.size() && text[i] >= '1' && text[i] <= '9') return true;
    } else if (text[i] == '[') {
      if (i + 1 < text.size() && text[i + 1] == '^') ++i;
      if (i + 1 < text.size() && text[i + 1] == ']') ++i;
      while (++i < text.size() && text[i] != ']') {
        if (text[i] != '[' || i + 1 == text.size() || std::string_view(":.=").find(text[i + 1]) == text.npos) continue;
        i = text.find(std::string{text[i + 1], ']'}, i + 2);  // [:digit:]
        if (i == text.npos) return false;
        ++i;
      }
    }
  }
  return false;
}

}  // namespace

Pattern::Pattern(const std::string& text, bool ignore_case) {
  if (refers_back(text)) {
    throw CommandError(Exit::usage,
                       quote(text) + " refers back to a part of itself, as \\1 does, which can take minutes");
  }
  const int error = regcomp(&compiled_, text.c_str(), REG_EXTENDED | REG_NOSUB | (ignore_case ? REG_ICASE : 0));
  if (error == 0) return;
  std::array<char, 256> why{};
  regerror(error, &compiled_, why.data(), why.size());
  throw CommandError(Exit::usage, quote(text) + " is no regular expression: " + why.data());
}

bool Pattern::matches(std::string_view line) const {
  line = line.substr(0, kLongestTried);
  regmatch_t range{.rm_so = 0, .rm_eo = static_cast<regoff_t>(line.size())};
  return regexec(&compiled_, line.data(), 1, &range, REG_STARTEND) == 0;
}

}  // namespace lp::tool
