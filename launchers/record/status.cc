#include "launchers/record/status.h"

namespace lp {

std::string Cause::text() const {
  std::string result =
      node.empty() ? what
                   : node + (incarnation > 1 ? " (incarnation " + std::to_string(incarnation) + ")" : "") + ": " + what;
  const auto append = [&](const char* title, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    result += std::string("\n  ") + title;
    for (const std::string& line : lines) result += "\n    " + line;
  };
  append("its backtrace:", backtrace);
  append("the end of its standard error:", last_lines);
  return result;
}

}  // namespace lp
