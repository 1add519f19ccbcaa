#include "tools/lp/trace/clocks.h"

#include <algorithm>
#include <optional>

namespace lp::tool {
namespace {

using Bounds = std::map<std::pair<std::size_t, std::size_t>, Duration>;

// The least sums of bounds on the ways from clock 0 to each (Bellman and Ford); with `backwards`, on the ways to it.
// kForever: there is no way. Nothing when the bounds contradict one another.
std::optional<std::vector<Duration>> distances(std::size_t clocks, const Bounds& bounds, Duration slack,
                                               bool backwards) {
  std::vector<Duration> least(clocks, kForever);
  least[0] = Duration::zero();
  bool changed = true;
  for (std::size_t round = 0; changed && round <= clocks; ++round) {
    changed = false;
    for (const auto& [pair, bound] : bounds) {
      const auto [from, to] = backwards ? std::pair(pair.second, pair.first) : pair;
      if (least[from] == kForever || least[from] + bound + slack >= least[to]) continue;
      least[to] = least[from] + bound + slack;
      changed = true;
    }
  }
  return changed ? std::nullopt : std::optional(least);
}

}  // namespace

std::size_t Clocks::number_of(const std::string& name) { return numbers_.emplace(name, numbers_.size()).first->second; }

void Clocks::add_message(std::size_t sender, std::size_t receiver, Time left, Time arrived) {
  if (sender == receiver) return;
  const auto [at, is_new] = most_.emplace(std::pair(receiver, sender), arrived - left);
  if (!is_new) at->second = std::min(at->second, arrived - left);
}

std::vector<Clocks::Offset> Clocks::offsets() const {
  std::optional<std::vector<Duration>> most, least;
  Duration slack{};
  for (;; slack = std::max<Duration>(2 * slack, std::chrono::microseconds(1))) {
    most = distances(size(), most_, slack, /*backwards=*/false);
    if (most.has_value()) least = distances(size(), most_, slack, /*backwards=*/true);
    if (least.has_value()) break;
  }
  std::vector<Offset> offsets(size());  // the first one is right
  for (std::size_t clock = 1; clock < size(); ++clock) {
    const Duration up = (*most)[clock], down = (*least)[clock];
    offsets[clock] = up == kForever || down == kForever ? Offset{.error = kForever}
                                                        : Offset{.offset = (up - down) / 2, .error = (up + down) / 2};
  }
  for (Offset& one : offsets) {
    if (one.error != kForever) one.error += slack;
  }
  return offsets;
}

}  // namespace lp::tool
