#include "launchers/observation/wait_choice.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <queue>
#include <utility>

namespace lp::launch {
namespace {

constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

// Whether it may go on by itself. Code that waits for the stop of its run brings nothing any more.
bool may_go_on(const Activity& one) {
  return !one.next.has_value() && one.end != Activity::End::nobody && !one.until_stop;
}
bool may_go_on(const WayOut& way) { return !way.next.has_value() && way.end != Activity::End::nobody; }

// Which chains end.
std::vector<bool> ends_of(const std::vector<Activity>& activities) {
  enum class Mark : std::uint8_t { none, open, ends, circles };
  std::vector<Mark> marks(activities.size(), Mark::none);
  for (std::size_t i = 0; i < activities.size(); ++i) {
    std::vector<std::size_t> path;
    std::optional<std::size_t> at = i;
    while (at.has_value() && marks[*at] == Mark::none) {
      marks[*at] = Mark::open;
      path.push_back(*at);
      at = activities[*at].next;
    }
    const Mark mark = !at.has_value() || marks[*at] == Mark::ends ? Mark::ends : Mark::circles;
    for (const std::size_t one : path) marks[one] = mark;
  }
  std::vector<bool> ends;
  for (const Mark mark : marks) ends.push_back(mark == Mark::ends);
  return ends;
}

}  // namespace

void take_way(Activity& activity, const WayOut& way) {
  activity.next = way.unsure ? std::nullopt : way.next;
  activity.why = way.why;
  activity.end = way.end;
  activity.lacks_value = way.unsure;
  if (!way.does.empty()) activity.does = way.does;
  activity.detail = way.detail;
}

std::size_t WaysOut::add_list(std::vector<WayOut> ways) {
  lists_.push_back(std::move(ways));
  return lists_.size() - 1;
}

void WaysOut::leave_circles(std::vector<Activity>& activities) const {
  const std::vector<bool> ends = ends_of(activities);
  if (std::find(ends.begin(), ends.end(), false) == ends.end()) return;
  // The steps from each activity, and behind them from each list, to one that may go on.
  const std::size_t count = activities.size();
  std::vector<std::size_t> steps(count + lists_.size(), kNever);
  std::vector<std::vector<std::size_t>> before(count + lists_.size());
  std::queue<std::size_t> reached;
  const auto reach = [&](std::size_t one, std::size_t distance) {
    if (steps[one] != kNever) return;
    steps[one] = distance;
    reached.push(one);
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (activities[i].next.has_value()) before[*activities[i].next].push_back(i);
    if (may_go_on(activities[i])) reach(i, 0);
  }
  for (const auto& [activity, lists] : lists_of_) {
    for (const std::size_t list : lists) before[count + list].push_back(activity);
  }
  for (std::size_t list = 0; list < lists_.size(); ++list) {
    for (const WayOut& way : lists_[list]) {
      if (way.next.has_value()) before[*way.next].push_back(count + list);
      if (may_go_on(way)) reach(count + list, 0);
    }
  }
  for (; !reached.empty(); reached.pop()) {
    for (const std::size_t one : before[reached.front()]) reach(one, steps[reached.front()] + 1);
  }
  const auto steps_of = [&](const WayOut& way) {
    if (way.next.has_value()) return steps[*way.next];
    return may_go_on(way) ? 0 : kNever;
  };
  for (const auto& [i, lists] : lists_of_) {
    if (ends[i] || steps[i] == kNever) continue;
    const WayOut* best = nullptr;
    for (const std::size_t list : lists) {
      for (const WayOut& way : lists_[list]) {
        if (steps_of(way) != kNever && (best == nullptr || steps_of(way) < steps_of(*best))) best = &way;
      }
    }
    Activity& self = activities[i];
    // The present next one may leave the circle itself.
    if (best == nullptr || (self.next.has_value() && steps[*self.next] <= steps_of(*best))) continue;
    take_way(self, *best);
  }
}

}  // namespace lp::launch
