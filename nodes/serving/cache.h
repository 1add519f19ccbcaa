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
  std::size_t most_calls = 1000;               // calls of the method at a time; one more is refused
};

// Throws Error::failed when an option does not fit.
void check(const CacheOptions& options);

// The error of a cache that waits for so many answers.
[[noreturn]] void refuse_call(std::size_t most);

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
  // Error::overloaded when there is no answer, and the method is called for as many other keys as it may be.
  Found find(const std::string& key, Time now) {
    const bool full = calling_ >= options_.most_calls;
    if (full && !entries_.contains(key)) refuse_call(options_.most_calls);
    Entry& entry = touch(key);
    const bool there = entry.there && now <= later(entry.asked, options_.stale);
    if (full && !there && !entry.calling) refuse_call(options_.most_calls);
    Found found;
    if (there) {
      ++statistics_.hits;
      found.answer = ready(R(entry.value));
    } else {
      ++statistics_.waits;
      found.answer = entry.waiting.emplace_back().future();
    }
    const bool fresh = there && now <= later(entry.asked, options_.refresh);
    if (!fresh && !full && !std::exchange(entry.calling, true)) {
      found.call = true;
      ++calling_;
      ++statistics_.calls;
    }
    return found;
  }
  // The method was called at `asked` and returned this.
  void answered(const std::string& key, R value, Time asked) {
    Entry& entry = settled(key);
    if (!std::exchange(entry.there, true)) entry.order = order_.insert(order_.end(), key);
    entry.asked = asked;
    entry.value = std::move(value);
    for (Promise<R>& one : std::exchange(entry.waiting, {})) one.set_value(R(entry.value));
    make_room();
  }
  // The call failed: those who wait get the error. The next caller causes another call.
  void failed(const std::string& key, const Error& error) {
    ++statistics_.errors;
    Entry& entry = settled(key);
    for (Promise<R>& one : std::exchange(entry.waiting, {})) one.set_error(error);
    if (!entry.there) entries_.erase(key);
  }

  CacheStatistics statistics() const {
    CacheStatistics all = statistics_;
    all.answers = order_.size();
    return all;
  }

 private:
  struct Entry {
    bool there = false;
    bool calling = false;
    Time asked{};
    R value{};
    std::vector<Promise<R>> waiting{};
    std::list<std::string>::iterator order{};  // if the answer is there
  };

  // The entry of the key, which becomes the one that was wanted last.
  Entry& touch(const std::string& key) {
    Entry& entry = entries_[key];
    if (entry.there) order_.splice(order_.end(), order_, entry.order);
    return entry;
  }
  // The entry of the key, whose call has ended.
  Entry& settled(const std::string& key) {
    Entry& entry = entries_.at(key);
    entry.calling = false;
    --calling_;
    return entry;
  }
  void make_room() {
    while (order_.size() > options_.room) {
      const auto found = entries_.find(order_.front());
      if (found->second.calling) {
        found->second.there = false;
        found->second.value = R{};
      } else {
        entries_.erase(found);
      }
      order_.pop_front();
    }
  }

  const CacheOptions options_;
  CacheStatistics statistics_{};
  std::unordered_map<std::string, Entry> entries_{};
  std::list<std::string> order_{};  // the keys whose answers are there; the one that was wanted last is the last
  std::size_t calling_ = 0;         // keys for which the method is called
};

}  // namespace lp
