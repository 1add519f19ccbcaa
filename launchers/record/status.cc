#include "launchers/record/status.h"

namespace lp {

std::string Cause::text() const {
  std::string result =
      node.empty() ? what
                   : node + (incarnation > 1 ? " (incarnation " + std::to_string(incarnation) + ")" : "") + ": " + what;
  if (!host.empty()) result += " (on host " + host + ")";
  const auto append = [&](const char* title, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    result += std::string("\n  ") + title;
    for (const std::string& line : lines) result += "\n    " + line;
  };
  append("its backtrace:", backtrace);
  append("the end of its standard error:", last_lines);
  return result;
}

std::string stop_text(const std::string& stopped_by, const std::string& reason) {
  const bool repeats = reason.starts_with(stopped_by);  // "SIGINT; its nodes were killed"
  return "by " + stopped_by + (repeats ? reason.substr(stopped_by.size()) : ": " + reason);
}

}  // namespace lp
