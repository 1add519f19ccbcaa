#include "tools/lp/views/pattern.h"

#include <array>

#include "lp/base/text.h"
#include "tools/lp/command_error.h"

namespace lp::tool {

Pattern::Pattern(const std::string& text, bool ignore_case) {
  const int error = regcomp(&compiled_, text.c_str(), REG_EXTENDED | REG_NOSUB | (ignore_case ? REG_ICASE : 0));
  if (error == 0) return;
  std::array<char, 256> why{};
  regerror(error, &compiled_, why.data(), why.size());
  throw CommandError(Exit::usage, quote(text) + " is no regular expression: " + why.data());
}

bool Pattern::matches(std::string_view line) const {
  regmatch_t range{.rm_so = 0, .rm_eo = static_cast<regoff_t>(line.size())};
  return regexec(&compiled_, line.data(), 1, &range, REG_STARTEND) == 0;
}

}  // namespace lp::tool
