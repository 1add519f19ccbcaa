#pragma once
// A queue of deadlines, one for each key. One thread owns it; it reads no clock itself.

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "lp/base/scheduler.h"

namespace lp::launch {

template <class Key>
class DeadlineQueue {
 public:
  void set(const Key& key, Time time) {
    cancel(key);
    times_.emplace(key, time);
    queue_.emplace(time, key);
  }
  void cancel(const Key& key) {
    const auto at = times_.find(key);
    if (at == times_.end()) return;
    queue_.erase({at->second, key});
    times_.erase(at);
  }
  bool has(const Key& key) const { return times_.contains(key); }
  Time next() const { return queue_.empty() ? kNever : queue_.begin()->first; }
  // Removes and returns one key whose deadline has passed.
  std::optional<Key> take(Time now) {
    if (next() > now) return std::nullopt;
    const Key key = queue_.begin()->second;
    cancel(key);
    return key;
  }

 private:
  std::map<Key, Time> times_;
  std::set<std::pair<Time, Key>> queue_;
};

}  // namespace lp::launch
