#include "tools/lp/why/straggler.h"

#include <algorithm>
#include <vector>

#include "tools/lp/rates.h"

namespace lp::tool {
namespace {

constexpr double kSlow = 2;  // a straggler takes this many times as long as the others
constexpr double kLeastWork = 0.5;

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

Share share_of(const std::map<std::string, Share>& shares, const std::string& node) {
  const auto at = shares.find(node);
  return at == shares.end() ? Share() : at->second;
}

}  // namespace

std::string Straggler::text() const {
  return node + " is a straggler: " + (steps ? "a step" : "the work for a call") + " takes it " + short_number(factor) +
         " times as long as the other " + std::to_string(others) + " of its group; it works for " +
         short_number(works * 100) + " % of the time";
}

std::optional<Straggler> straggler_of(std::span<const std::string> group, const std::map<std::string, Share>& shares) {
  if (group.size() < 3) return std::nullopt;  // nobody knows which of two is right
  const bool steps =
      std::all_of(group.begin(), group.end(), [&](const std::string& one) { return share_of(shares, one).steps > 0; });
  std::map<std::string, double> times;
  for (const std::string& one : group) {
    const Share share = share_of(shares, one);
    const double units = steps ? share.steps : share.units;
    if (units <= 0) return std::nullopt;
    times[one] = std::max(share.works, 0.02) / units;
  }
  const auto slowest =
      std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<double> others;
  for (const auto& [name, time] : times) {
    if (name != slowest->first) others.push_back(time);
  }
  const double factor = slowest->second / median_of(others);
  const Share share = share_of(shares, slowest->first);
  if (factor < kSlow || share.works < kLeastWork) return std::nullopt;
  return Straggler{slowest->first, factor, steps, others.size(), share.works};
}

}  // namespace lp::tool
