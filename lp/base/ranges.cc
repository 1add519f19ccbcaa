#include "lp/base/ranges.h"

#include <algorithm>
#include <iterator>

namespace lp {

void Ranges::add(Range range) {
  if (range.begin == range.end) return;
  count_ += range.end - range.begin;
  auto next = ends_.lower_bound(range.begin);
  if (next != ends_.begin()) {
    if (const auto before = std::prev(next); before->second == range.begin) {
      range.begin = before->first;
      ends_.erase(before);
    }
  }
  if (next != ends_.end() && next->first == range.end) {
    range.end = next->second;
    next = ends_.erase(next);
  }
  ends_.emplace_hint(next, range.begin, range.end);
}

std::size_t Ranges::remove(Range range) {
  const std::size_t before = count_;
  auto at = ends_.upper_bound(range.begin);
  if (at != ends_.begin()) --at;
  while (at != ends_.end() && at->first < range.end) {
    const Range found{.begin = at->first, .end = at->second};
    if (found.end <= range.begin) {
      ++at;
      continue;
    }
    at = ends_.erase(at);
    if (found.begin < range.begin) ends_.emplace_hint(at, found.begin, range.begin);
    if (found.end > range.end) at = ends_.emplace_hint(at, range.end, found.end);
    count_ -= std::min(found.end, range.end) - std::max(found.begin, range.begin);
  }
  return before - count_;
}

Ranges::Range Ranges::take_last() {
  const auto last = std::prev(ends_.end());
  const Range range{.begin = last->first, .end = last->second};
  ends_.erase(last);
  count_ -= range.end - range.begin;
  return range;
}

}  // namespace lp
