#pragma once
// Answers by key, with their ages: whether an answer may be given, whether it must be asked for again, and who waits
// for it. It knows no clock: its caller passes the time. Owned by a Cacher, in its turn.

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/scheduler.h"
#include "lp/rpc/core/future.h"

namespace lp {

// The age of an answer counts from the time when it was asked for.
struct CacheOptions {
  Duration refresh = std::chrono::seconds(1);  // an older answer is given, and asked for again meanwhile
  Duration stale = std::chrono::seconds(10);   // an older answer is not given: its callers wait for a new one
  std::size_t room = 1000;                     // answers; the one that was wanted least recently makes room
};

// Throws Error::failed when an option does not fit.
void check(const CacheOptions& options);

struct CacheStatistics {
  std::uint64_t hits = 0;    // answers that were there
  std::uint64_t waits = 0;   // callers that waited for one
  std::uint64_t calls = 0;   // calls of the method
  std::uint64_t errors = 0;  // calls that failed
  std::size_t answers = 0;   // that are there
};

template <class R>
class Cache {
 public:
  explicit Cache(const CacheOptions& options) : options_(options) { check(options); }

  struct Found {
    Future<R> answer{};
    bool call = false;  // the method must be called for this key: answered() or failed() must follow
  };
  Found find(const std::string& key, Time now) {
    Entry& entry = touch(key);
    const bool there = entry.there && now <= later(entry.asked, options_.stale);
    Found found;
    if (there) {
      ++statistics_.hits;
      found.answer = ready(R(entry.value));
    } else {
      ++statistics_.waits;
      found.answer = entry.waiting.emplace_back().future();
    }
    const bool fresh = there && now <= later(entry.asked, options_.refresh);
    if (!fresh && !std::exchange(entry.calling, true)) {
      found.call = true;
      ++statistics_.calls;
    }
    return found;
  }
  // The method was called at `asked` and returned this.
  void answered(const std::string& key, R value, Time asked) {
    Entry& entry = entries_.at(key);
    entry.calling = false;
    entry.there = true;
    entry.asked = asked;
    entry.value = std::move(value);
    for (Promise<R>& one : std::exchange(entry.waiting, {})) one.set_value(R(entry.value));
    make_room();
  }
  // The call failed: those who wait get the error. The next caller causes another call.
  void failed(const std::string& key, const Error& error) {
    ++statistics_.errors;
    Entry& entry = entries_.at(key);
    entry.calling = false;
    for (Promise<R>& one : std::exchange(entry.waiting, {})) one.set_error(error);
    if (!entry.there) drop(key);
  }

  CacheStatistics statistics() const {
    CacheStatistics all = statistics_;
    for (const auto& [key, entry] : entries_) all.answers += entry.there ? 1 : 0;
    return all;
  }

 private:
  struct Entry {
    bool there = false;
    bool calling = false;
    Time asked{};
    R value{};
    std::vector<Promise<R>> waiting{};
    std::list<std::string>::iterator order{};
  };

  // The entry of the key, which becomes the one that was wanted last.
  Entry& touch(const std::string& key) {
    const auto [found, made] = entries_.try_emplace(key);
    if (made) {
      found->second.order = order_.insert(order_.end(), key);
    } else {
      order_.splice(order_.end(), order_, found->second.order);
    }
    return found->second;
  }
  void make_room() {
    for (auto one = order_.begin(); one != order_.end() && entries_.size() > options_.room;) {
      const std::string key = *one++;
      if (!entries_.at(key).calling) drop(key);
    }
  }
  void drop(const std::string& key) {
    const auto found = entries_.find(key);
    order_.erase(found->second.order);
    entries_.erase(found);
  }

  const CacheOptions options_;
  CacheStatistics statistics_{};
  std::unordered_map<std::string, Entry> entries_{};
  std::list<std::string> order_{};  // the keys; the one that was wanted last is the last
};

}  // namespace lp
