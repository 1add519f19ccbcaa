#pragma once
// Times at which something is due, one for each key. Owned by one thread; knows no clock itself.

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "lp/base/scheduler.h"

namespace lp::internal {

template <class Key>
class Alarms {
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
  Time next() const { return queue_.empty() ? kNever : queue_.begin()->first; }
  // Takes one that is due.
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

}  // namespace lp::internal
