#include "tools/lp/trace/gaps.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "lp/base/text.h"

namespace lp::tool {
namespace {

std::string moment_text(Time at, Time begin) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f s", std::max(to_seconds(at - begin), 0.0));
  return text.data();
}

}  // namespace

std::string names_text(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 10;
  if (names.size() <= 1) return join(names, "");
  const bool all = names.size() <= kShown + 1;
  const std::size_t shown = all ? names.size() - 1 : kShown;
  const std::vector<std::string> first(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown));
  return join(first, ", ") + " and " + (all ? names.back() : std::to_string(names.size() - shown) + " more");
}

std::vector<std::string> gap_texts(const Trace& trace) {
  const Time begin = begin_of(trace);
  std::vector<std::string> texts;
  for (const Trace::Gap& gap : trace.gaps) {
    const bool one = gap.nodes.size() == 1;
    std::string& text = texts.emplace_back(names_text(gap.nodes));
    if (gap.ended.has_value()) {
      text += " ended at " + moment_text(*gap.ended, begin) + ": what " + (one ? "it" : "they") +
              " had recorded since " + moment_text(gap.since, begin) + " is lost";
    } else if (gap.answered) {
      text += std::string(one ? " has" : " have") + " not answered since " + moment_text(gap.since, begin) +
              ": what happened there since then is missing";
    } else {
      text += " did not answer: what happened there is missing";
    }
  }
  if (trace.launcher_lost) {
    texts.emplace_back(
        "The launcher ended without a result: what the nodes had recorded since its last question is lost");
  }
  return texts;
}

}  // namespace lp::tool
