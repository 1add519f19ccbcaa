#include "launchers/record/progress_line.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "launchers/record/node_output.h"
#include "lp/program/progress.h"

namespace lp::launch {
namespace {
constexpr std::size_t kLongestProgress = 400;  // bytes; of more values, the number is shown
}  // namespace

std::string progress_line(const std::string& node, const Progress& progress) {
  constexpr std::size_t kWidth = 24;
  if (progress.step == 0 && progress.total == 0 && progress.values.empty()) return {};
  std::string line;
  std::array<char, 64> text{};
  if (progress.total > 0) {
    const double part = std::min(1.0, static_cast<double>(progress.step) / static_cast<double>(progress.total));
    const auto filled = static_cast<std::size_t>(part * kWidth);
    std::snprintf(text.data(), text.size(), "] %3.0f %%  ", part * 100);
    line += "[" + std::string(filled, '#') + std::string(kWidth - filled, ' ') + text.data();
  }
  line += printable_word(node) + ": step " + std::to_string(progress.step);
  if (progress.total > 0) line += "/" + std::to_string(progress.total);
  std::size_t left = progress.values.size();
  for (const auto& [name, value] : progress.values) {
    std::snprintf(text.data(), text.size(), "%.4g", value);
    const std::string one = "  " + printable_word(name) + " " + text.data();
    if (line.size() + one.size() > kLongestProgress) break;
    line += one;
    --left;
  }
  if (left > 0) line += "  and " + std::to_string(left) + (left == 1 ? " more value" : " more values");
  return line;
}

}  // namespace lp::launch
