#pragma once
// Windows of event time, and which of them an event belongs to. Values; pure functions.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/scheduler.h"
#include "nodes/stream/frame.h"

namespace lp {

// The time from `begin` up to, but without, `end`.
struct Window {
  EventTime begin = 0;
  EventTime end = 0;
  auto operator<=>(const Window&) const = default;
};

// Throws Error(failed) for a time that is so far away that the windows around it have no begin or end.
inline void check_event_time(EventTime time) {
  constexpr EventTime kMost = kEndOfTime - (EventTime{1} << 46);  // the longest window has less than 2^44 milliseconds
  if (time >= -kMost && time <= kMost) return;
  throw Error(ErrorKind::failed, "an event has the time " + std::to_string(time) +
                                     ", in milliseconds: windows are for " + "times from " + std::to_string(-kMost) +
                                     " to " + std::to_string(kMost));
}

class Windows {
 public:
  enum class Kind : std::uint8_t { tumbling, sliding, session };

  // Windows of one size that follow one another: they begin at multiples of it, and `offset` later.
  static Windows tumbling(Duration size, Duration offset = {}) { return {Kind::tumbling, size, size, offset}; }
  // Windows of one size that begin every so often.
  static Windows sliding(Duration size, Duration every, Duration offset = {}) {
    return {Kind::sliding, size, every, offset};
  }
  // Windows of a key's events between which less than `gap` passes. They end `gap` after the last one.
  static Windows session(Duration gap) { return {Kind::session, gap, gap, {}}; }

  Kind kind() const { return kind_; }
  // How long a window is; for sessions, the gap.
  EventTime size() const { return size_; }
  // The window of an event alone: for sessions, the others are joined with it; for tumbling windows, the only one; for
  // sliding ones, the last one.
  Window last_of(EventTime time) const {
    if (kind_ == Kind::session) return {time, time + size_};
    EventTime into = (time - offset_) % every_;
    if (into < 0) into += every_;
    return {time - into, time - into + size_};
  }
  // Whether a window may end after `before` and not after `last`; not for sessions.
  bool may_end_in(EventTime before, EventTime last) const {
    if (last > kEndOfTime / 2 || last < kNoTime / 2) return true;  // the subtraction needs room
    return last_of(last - size_).end > before;
  }
  // Calls f(window) for each window of an event, except sessions.
  template <class F>
  void each_of(EventTime time, const F& f) const {
    for (Window one = last_of(time); one.end > time; one.begin -= every_, one.end -= every_) f(one);
  }

 private:
  Windows(Kind kind, Duration size, Duration every, Duration offset)
      : kind_(kind), size_(milliseconds(size)), every_(milliseconds(every)), offset_(milliseconds(offset)) {
    if (size_ <= 0 || every_ <= 0) throw Error(ErrorKind::failed, "windows have a size of 1 millisecond at least");
  }
  static EventTime milliseconds(Duration time) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  }

  Kind kind_;
  EventTime size_;
  EventTime every_;
  EventTime offset_;
};

struct WindowOptions {
  // A window is kept for so long after its end, and fires again for each late event. Later ones go to the late
  // events.
  Duration lateness{};
  // For sums whose bytes can be copied: the replicas that have the events add them up, and send the sums. Then it does
  // not matter when many events have the same key; without, they all go to one replica. It costs more than it saves
  // when nearly every event of a window has a key of its own. A source from which nothing comes holds the results back,
  // however long.
  bool combine = false;
};

// The result of a key's window.
template <class K, class R>
struct Windowed {
  K key{};
  Window window{};
  R value{};
};

}  // namespace lp
