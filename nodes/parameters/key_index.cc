#include "nodes/parameters/key_index.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>

#include "lp/base/error.h"

namespace lp {
namespace {

using Keys = std::span<const std::uint64_t>;

void append(std::vector<SlotRun>& runs, SlotRun run) {
  if (!runs.empty()) {
    SlotRun& last = runs.back();
    if (last.at + last.count == run.at && last.slot + last.count == run.slot) {
      last.count += run.count;
      return;
    }
  }
  runs.push_back(run);
}

[[noreturn]] void not_ascending(Keys keys, std::size_t at) {
  throw Error(ErrorKind::failed, "key " + std::to_string(keys[at]) + " at position " + std::to_string(at) +
                                     " of a list comes after key " + std::to_string(keys[at - 1]) +
                                     ": keys must ascend, each once");
}

// The first position from `from` on whose key is not below `key`: steps that double, then a binary search.
std::size_t gallop(Keys keys, std::size_t from, std::uint64_t key) {
  std::size_t step = 1;
  std::size_t low = from;
  while (low + step < keys.size() && keys[low + step] < key) {
    low += step;
    step *= 2;
  }
  const auto begin = keys.begin() + static_cast<std::ptrdiff_t>(low);
  const auto end = keys.begin() + static_cast<std::ptrdiff_t>(std::min(low + step + 1, keys.size()));
  return static_cast<std::size_t>(std::lower_bound(begin, end, key) - keys.begin());
}

}  // namespace

KeyIndex::KeyIndex(std::span<const KeyRange> ranges) : dense_(true), ranges_(ranges.begin(), ranges.end()) {
  const std::uint64_t count = key_count(ranges);
  if (count > kMostKeys) {
    throw Error(ErrorKind::failed, "a server would hold " + std::to_string(count) + " keys of a tensor, but can hold " +
                                       std::to_string(kMostKeys) + ": give more servers");
  }
  for (const KeyRange& range : ranges) {
    first_.push_back(size_);
    size_ += static_cast<std::uint32_t>(range.last - range.begin + 1);
  }
}

KeyIndex KeyIndex::of_slots(Keys keys) {
  KeyIndex out;
  if (keys.empty()) return out;
  out.size_ = static_cast<std::uint32_t>(keys.size());
  Level level{.slots = std::vector<std::uint32_t>(keys.size())};
  std::iota(level.slots.begin(), level.slots.end(), 0U);
  std::sort(level.slots.begin(), level.slots.end(),
            [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
  for (const std::uint32_t slot : level.slots) level.keys.push_back(keys[slot]);
  for (std::size_t i = 1; i < level.keys.size(); ++i) {
    if (level.keys[i] == level.keys[i - 1]) not_ascending(level.keys, i);
  }
  out.levels_.push_back(std::move(level));
  return out;
}

std::vector<SlotRun> KeyIndex::find(Keys keys, std::vector<std::uint32_t>* missing) const {
  std::vector<SlotRun> runs;
  if (keys.size() > kMostKeys) throw Error(ErrorKind::failed, "a list has more than 4294967295 keys");
  for (std::size_t i = 1; i < keys.size(); ++i) {
    if (keys[i] <= keys[i - 1]) not_ascending(keys, i);
  }
  const auto at = [](std::size_t place) { return static_cast<std::uint32_t>(place); };
  if (dense_) {
    std::size_t range = 0;
    for (std::size_t i = 0; i < keys.size();) {
      while (range < ranges_.size() && ranges_[range].last < keys[i]) ++range;
      if (range == ranges_.size() || keys[i] < ranges_[range].begin) {
        if (missing != nullptr) missing->push_back(at(i));
        ++i;
        continue;
      }
      const std::size_t begin = i;
      const std::uint64_t offset = keys[i] - ranges_[range].begin;
      while (i < keys.size() && keys[i] <= ranges_[range].last && keys[i] - keys[begin] == i - begin) ++i;
      append(runs, {at(begin), first_[range] + at(offset), at(i - begin)});
    }
    return runs;
  }
  std::vector<std::uint32_t> left;  // positions of keys that no level has had yet; before the first level: all of them
  bool all = true;
  for (const Level& level : levels_) {
    std::vector<std::uint32_t> next;
    std::size_t here = 0;  // the position in the level
    const std::size_t count = all ? keys.size() : left.size();
    for (std::size_t k = 0; k < count;) {
      const std::size_t i = all ? k : left[k];
      if (here < level.keys.size() && level.keys[here] != keys[i]) here = gallop(level.keys, here, keys[i]);
      if (here == level.keys.size() || level.keys[here] != keys[i]) {
        next.push_back(at(i));
        ++k;
        continue;
      }
      std::size_t count_here = 1;
      if (all) {  // usually the list was pushed before: its keys are neighbours in both
        while (i + count_here < keys.size() && here + count_here < level.keys.size() &&
               level.keys[here + count_here] == keys[i + count_here] &&
               level.slots[here + count_here] == level.slots[here] + count_here) {
          ++count_here;
        }
      }
      append(runs, {at(i), level.slots[here], at(count_here)});
      here += count_here;
      k += count_here;
    }
    left = std::move(next);
    all = false;
    if (left.empty()) return runs;
  }
  if (missing != nullptr) {
    if (all) {
      for (std::size_t i = 0; i < keys.size(); ++i) missing->push_back(at(i));
    } else {
      *missing = std::move(left);
    }
  }
  return runs;
}

std::vector<SlotRun> KeyIndex::find(const KeyRange& range) const {
  if (!dense_) return find(keys_in(range).span(), nullptr);
  std::vector<SlotRun> runs;
  std::uint32_t at = 0;
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    const std::uint64_t begin = std::max(ranges_[i].begin, range.begin);
    const std::uint64_t last = std::min(ranges_[i].last, range.last);
    if (begin > last) continue;
    const auto offset = static_cast<std::uint32_t>(begin - ranges_[i].begin);
    const auto count = static_cast<std::uint32_t>(last - begin + 1);
    append(runs, {at, first_[i] + offset, count});
    at += count;
  }
  return runs;
}

void KeyIndex::insert(Keys keys) {
  if (keys.empty()) return;
  if (size_ + keys.size() > kMostKeys) {
    throw Error(ErrorKind::failed, "a server holds " + std::to_string(size_) + " keys of a tensor and cannot take " +
                                       std::to_string(keys.size()) + " more: give more servers");
  }
  Level level{.keys{keys.begin(), keys.end()}, .slots = std::vector<std::uint32_t>(keys.size())};
  for (std::uint32_t& slot : level.slots) slot = size_++;
  levels_.push_back(std::move(level));
  while (levels_.size() > 1 && levels_[levels_.size() - 2].keys.size() < 2 * levels_.back().keys.size()) {
    Level both = merged(levels_[levels_.size() - 2], levels_.back());
    levels_.pop_back();
    levels_.back() = std::move(both);
  }
}

KeyIndex::Level KeyIndex::merged(const Level& a, const Level& b) {
  Level out;
  out.keys.reserve(a.keys.size() + b.keys.size());
  out.slots.reserve(a.keys.size() + b.keys.size());
  std::size_t j = 0;
  const auto take = [&out](const Level& from, std::size_t i) {
    out.keys.push_back(from.keys[i]);
    out.slots.push_back(from.slots[i]);
  };
  for (std::size_t i = 0; i < a.keys.size(); ++i) {
    while (j < b.keys.size() && b.keys[j] < a.keys[i]) take(b, j++);
    take(a, i);
  }
  while (j < b.keys.size()) take(b, j++);
  return out;
}

Array<std::uint64_t> KeyIndex::keys_in(const KeyRange& range) const {
  if (range.begin > range.last) return {};
  std::vector<std::uint64_t> keys;
  for (const KeyRange& own : ranges_) {
    if (own.last < range.begin || range.last < own.begin) continue;
    const std::uint64_t last = std::min(own.last, range.last);
    for (std::uint64_t key = std::max(own.begin, range.begin);; ++key) {
      keys.push_back(key);
      if (key == last) break;
    }
  }
  for (const Level& level : levels_) {
    const auto begin = std::lower_bound(level.keys.begin(), level.keys.end(), range.begin);
    const auto end = std::upper_bound(begin, level.keys.end(), range.last);
    const auto middle = static_cast<std::ptrdiff_t>(keys.size());
    keys.insert(keys.end(), begin, end);
    std::inplace_merge(keys.begin(), keys.begin() + middle, keys.end());
  }
  return Array<std::uint64_t>::copy_of(keys);
}

Array<std::uint64_t> KeyIndex::keys_by_slot() const {
  if (dense_) return keys_in({});
  auto keys = Array<std::uint64_t>::uninitialized(size_);
  const std::span<std::uint64_t> to = keys.edit();
  for (const Level& level : levels_) {
    for (std::size_t i = 0; i < level.keys.size(); ++i) to[level.slots[i]] = level.keys[i];
  }
  return keys;
}

}  // namespace lp
