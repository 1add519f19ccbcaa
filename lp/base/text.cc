#include "lp/base/text.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/json.h"
#include "lp/base/utf8.h"

namespace lp {
namespace {

constexpr std::size_t kLongestName = 100;  // a longer word is no misspelling of anything
constexpr std::size_t kLongestQuote = 80;

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::string in_quotes(std::string_view text) {
  JsonWriter json;
  json.string(text);
  return std::move(json).text();
}

}  // namespace

bool same_name(std::string_view name, std::string_view given) {
  return std::equal(name.begin(), name.end(), given.begin(), given.end(),
                    [](char a, char b) { return a == b || (a == '_' && b == '-'); });
}

std::string did_you_mean(std::string_view given, std::span<const std::string> candidates, std::string_view prefix) {
  if (given.size() > kLongestName) return {};
  const std::string* best = nullptr;
  std::size_t least = std::max<std::size_t>(2, given.size() / 3) + 1;
  const auto consider = [&](const std::string& candidate, std::string_view name) {
    const std::size_t d = distance(given, name);
    if (d >= least || d >= name.size()) return;
    least = d;
    best = &candidate;
  };
  for (const std::string& candidate : candidates) {
    consider(candidate, candidate);
    consider(candidate, std::string_view(candidate).substr(candidate.rfind('.') + 1));  // npos + 1 is 0
  }
  if (best == nullptr) return {};
  return std::string("; did you mean ").append(prefix).append(*best).append("?");
}

std::string quote(std::string_view text) {
  if (text.size() <= kLongestQuote) return in_quotes(text);
  const std::string_view head = text.substr(0, valid_utf8_prefix(text.substr(0, kLongestQuote)));
  return in_quotes(head.empty() ? text.substr(0, kLongestQuote) : head) + "... (" + std::to_string(text.size()) +
         " bytes)";
}

std::string duration_text(std::chrono::nanoseconds duration) {
  const double seconds = std::chrono::duration<double>(duration).count();
  const bool short_time = seconds < 1;
  constexpr double kParts = 1000;  // thousandths of the unit are shown
  return to_json(std::round((short_time ? seconds * 1000 : seconds) * kParts) / kParts) + (short_time ? " ms" : " s");
}

std::string memory_text(std::uint64_t bytes) {
  constexpr std::string_view kUnits = "KMGT";
  std::string unit;
  double amount = static_cast<double>(bytes);
  for (const char next : kUnits) {
    if (amount < 1024) break;
    amount /= 1024;
    unit = next;
  }
  const double tenths = std::round(amount * 10) / 10;
  return to_json(tenths) + unit;
}

void log_line(std::string_view text) {
  const std::string line = std::string("lp: ").append(text).append("\n");
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace lp
