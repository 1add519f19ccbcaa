#pragma once
// Sums over sessions: windows of a key that grow together. On disk are the sessions by key, and their ends by time.
// When the end of a session comes, all that the runs have of its key is read, and joined with what is in memory. Events
// of the time behind that need no look at the disk.
//
// Owned by an operator; one thread.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "nodes/dataflow/groups.h"
#include "nodes/dataflow/key_codec.h"
#include "nodes/dataflow/record_codec.h"
#include "nodes/dataflow/record_size.h"
#include "nodes/operators/by_key_bytes.h"
#include "nodes/windows/spilled_runs.h"
#include "nodes/windows/window_sums.h"
#include "nodes/windows/windows.h"

namespace lp::dataflow {

template <class Sum>
class SessionWindows final : public WindowSums<Sum> {
 public:
  SessionWindows(StageSite& site, const WindowRules& rules, SumsOwner<Sum>& owner)
      : WindowSums<Sum>(site, rules, owner),
        runs_(site, WindowSums<Sum>::kRuns),
        end_runs_(site, WindowSums<Sum>::kEnds) {}

  bool add(std::string_view key, EventTime time) override { return add_part(key, own_window(time)); }
  bool add_part(std::string_view key, const Window& window) override {
    if (this->rules_.parts && window.begin < this->watermark_) return false;  // it cannot wait for the others
    read_late(key, window);
    auto at = keys_.find(key);
    const auto joins = [&](const Session& one) { return overlap(one.window, window); };
    const bool alone = at == keys_.end() || std::none_of(at->second.all.begin(), at->second.all.end(), joins);
    if (alone && this->gone(window)) return false;
    if (at == keys_.end()) at = keys_.emplace(std::string(key), Sessions{.newest = runs_.empty()}).first;
    Session session = take_out(at->second, at->first, window).value_or(Session{window});
    this->owner_.add_to(session.sum);
    ends_.emplace(session.window.end, at->first);
    if (this->over(session.window)) this->result(at->first, session.window, session.sum);
    at->second.all.push_back(std::move(session));
    // With its end.
    this->grow(2 * bytes_of_key(key) + sizeof(Session) + std::exchange(read_bytes_, 0));
    return true;
  }
  void try_add(std::string_view key, EventTime time) override {
    const Window window = own_window(time);
    read_late(key, window);
    Sum sum{};
    if (const auto at = keys_.find(key); at != keys_.end()) {
      bool first = true;
      for (const Session& one : at->second.all) {
        if (!overlap(one.window, window)) continue;
        if (std::exchange(first, false)) {
          sum = one.sum;
        } else {
          this->owner_.merge(key, sum, one.sum);
        }
      }
    }
    this->owner_.add_to(sum);
  }

  void cut(std::uint64_t number) override {
    runs_.cut(number);
    end_runs_.cut(number);
  }
  void commit(std::uint64_t number) override {
    runs_.commit(number);
    end_runs_.commit(number);
  }
  void save(OperatorState& out) const override {
    this->save_watermark(out);
    runs_.save(out);
    end_runs_.save(out);
    GroupedWriter groups;
    for (const auto& [key, sessions] : keys_) {
      RecordWriter& bytes = groups.of(key);
      bytes.text(key);
      write_sessions(bytes, sessions);
    }
    groups.finish(out);
  }
  void load(const StatePiece& piece) override {
    if (this->load_watermark(piece)) {
      fired_ = this->watermark_;
      return;
    }
    if (runs_.load(piece) || end_runs_.load(piece)) return;
    for (RecordBytes in(piece.bytes); !in.empty();) {
      const std::string key(in.text());
      Sessions& sessions = keys_[key];
      bool newest = false;
      for (Session& one : read_sessions(in, newest)) put(sessions, key, std::move(one));
      sessions.newest = sessions.newest || newest;
    }
    this->loaded(piece.bytes.size());
  }

 private:
  struct Session {
    Window window{};
    Sum sum{};
  };
  struct Sessions {
    std::vector<Session> all{};
    bool newest = false;  // no run has anything of the key that counts
  };
  using End = std::pair<EventTime, std::string>;  // the end of a session, and its key

  Window own_window(EventTime time) const { return this->rules_.windows.last_of(time); }
  // An event may be joined with a session that has fired, or be late alone.
  void read_late(std::string_view key, const Window& window) {
    if (window.begin < this->watermark_ && (this->rules_.lateness > 0 || this->over(window))) read(key);
  }
  static bool overlap(const Window& a, const Window& b) { return a.begin < b.end && b.begin < a.end; }
  // The sessions that a window joins, as one that has all their time and its. Nothing when there is none.
  std::optional<Session> take_out(Sessions& sessions, const std::string& key, Window window) {
    std::optional<Session> out;
    for (auto one = sessions.all.begin(); one != sessions.all.end();) {
      if (!overlap(one->window, window)) {
        ++one;
        continue;
      }
      if (one->window.end < window.end) ends_.erase({one->window.end, key});
      window = {std::min(window.begin, one->window.begin), std::max(window.end, one->window.end)};
      if (out) {
        this->owner_.merge(key, out->sum, one->sum);
      } else {
        out = std::move(*one);
      }
      one = sessions.all.erase(one);
    }
    if (out) out->window = window;
    return out;
  }
  // Adds a session, joined with the others.
  void put(Sessions& sessions, const std::string& key, Session session) {
    if (std::optional<Session> others = take_out(sessions, key, session.window)) {
      this->join(key, others->sum, session.sum);
      session = std::move(*others);
    }
    ends_.emplace(session.window.end, key);
    sessions.all.push_back(std::move(session));
  }
  std::size_t size() const override {
    std::size_t bytes = 0;
    for (const auto& [key, sessions] : keys_) {
      for (const Session& one : sessions.all) bytes += bytes_of_key(key) + sizeof(Window) + record_size(one.sum);
    }
    for (const auto& one : ends_) bytes += bytes_of_key(one.second) + sizeof(one.first);
    return bytes;
  }

  void fire(EventTime before) override {
    if (this->rules_.parts) {
      give_all();  // where the parts go, sessions of other replicas may join them, and end earlier
    } else if (!runs_.empty()) {
      fire_all(before);
    } else {
      for (auto end = ends_.lower_bound({before + 1, std::string()}); end != ends_.end(); ++end) {
        if (end->first > this->watermark_) break;
        fire_end(*end);
      }
    }
    fired_ = this->watermark_;
  }
  void fire_end(const End& end) {
    const auto at = keys_.find(end.second);
    if (at == keys_.end()) return;
    for (const Session& one : at->second.all) {
      if (one.window.end == end.first) this->result(at->first, one.window, one.sum);
    }
  }
  // Those on disk, too: as many at a time as there is room for.
  void fire_all(EventTime before) {
    for (End from{before + 1, std::string()};;) {
      std::vector<End> due = next_due(from);
      if (due.empty()) return;
      from = due.back();
      from.second.push_back('\0');
      std::sort(due.begin(), due.end(), [](const End& a, const End& b) {
        return a.second != b.second ? a.second < b.second : a.first < b.first;
      });
      for (std::span<const End> rest = due; !rest.empty();) {
        const std::size_t read = read_some(rest);
        for (const End& one : rest.first(read)) {
          fire_end(one);
          drop(one);
        }
        rest = rest.subspan(read);
        this->loaded(std::exchange(read_bytes_, 0));
      }
    }
  }
  // The next ends from this one on that the watermark has passed, in memory and on disk.
  std::vector<End> next_due(const End& from) {
    std::vector<End> out;
    std::size_t bytes = 0;
    const std::size_t most = this->merge_memory_ / 2;
    const auto give = [&](End one) {
      if (!out.empty() && out.back() == one) return;
      bytes += bytes_of_key(one.second);
      out.push_back(std::move(one));
    };
    auto here = ends_.lower_bound(from);
    const auto more_here = [&] { return bytes < most && here != ends_.end() && here->first <= this->watermark_; };
    if (next_end_ <= this->watermark_) {
      next_end_ = kEndOfTime;
      KeyRange due{.begin = disk_key(from), .last = this->watermark_ == kEndOfTime};
      if (!due.last) due.end = disk_key({this->watermark_ + 1, std::string()});
      const std::string behind = end_runs_.each_from(due, this->merge_memory_, [&](const Groups& group) {
        End one = end_in(group.key());
        next_end_ = one.first;
        if (one.first > this->watermark_) return false;
        if (!end_runs_.owns(one.second)) return true;
        for (; more_here() && *here <= one; ++here) give(*here);
        if (bytes < most) give(std::move(one));
        return bytes < most;
      });
      if (!behind.empty()) next_end_ = std::min(next_end_, end_in(behind).first);
    }
    for (; more_here(); ++here) give(*here);
    return out;
  }
  // Forgets a session that has fired, when no late event may change it. Others of the key stay.
  void drop(const End& end) {
    if (!this->gone({0, end.first})) return;
    this->owner_.keys_go();
    const auto at = keys_.find(end.second);
    if (at == keys_.end()) return;
    std::erase_if(at->second.all, [&](const Session& one) { return one.window.end == end.first; });
    if (at->second.all.empty()) keys_.erase(at);
    ends_.erase(end);
  }
  void forget() override {
    while (!ends_.empty() && this->gone({0, ends_.begin()->first})) {
      const auto at = keys_.find(ends_.begin()->second);
      if (at != keys_.end()) {
        std::erase_if(at->second.all, [this](const Session& one) { return this->gone(one.window); });
        if (at->second.all.empty()) keys_.erase(at);
      }
      ends_.erase(ends_.begin());
    }
    runs_.forget([this](EventTime until) { return this->gone({0, until}); });
    end_runs_.forget([this](EventTime until) { return until <= this->watermark_; });
  }

  // Reads what the runs have of the keys of the first ends, which come in the order of their keys. Returns how many.
  std::size_t read_some(std::span<const End> ends) {
    std::size_t count = ends.size();
    const auto range = [&] {
      KeyRange out = range_of_key(ends[count - 1].second);
      out.begin = ends.front().second;
      return out;
    };
    while (count > 1 && runs_.blocks(range()) > count * runs_.size()) count /= 2;  // they are far from one another
    std::size_t next = 0;
    runs_.each_in(range(), this->merge_memory_, [&](Groups& group) {
      while (next < count && ends[next].second.compare(group.key()) < 0) ++next;
      if (next == count || ends[next].second != group.key()) return next < count;
      take_in(group);
      if (read_bytes_ <= this->merge_memory_) return true;
      while (next < count && ends[next].second == group.key()) ++next;
      count = next;
      return false;
    });
    return count;
  }
  void read(std::string_view key) {
    if (runs_.empty()) return;
    if (const auto at = keys_.find(key); at != keys_.end() && at->second.newest) return;
    runs_.each_in(range_of_key(key), this->merge_memory_, [&](Groups& group) {
      take_in(group);
      return false;
    });
    if (const auto at = keys_.find(key); at != keys_.end()) at->second.newest = true;
  }
  // Joins what the runs have of a key with what is in memory, which is newer.
  void take_in(Groups& group) {
    const std::string key(group.key());
    if (const auto at = keys_.find(key); at != keys_.end() && at->second.newest) return;
    std::vector<Session> found;
    for (std::string_view bytes; group.next_value(bytes);) {
      RecordBytes in(bytes);
      bool newest = false;
      std::vector<Session> more = read_sessions(in, newest);
      if (newest) found.clear();
      std::move(more.begin(), more.end(), std::back_inserter(found));
      read_bytes_ += bytes.size() + bytes_of_key(key);
    }
    // One that was gone when windows fired last was read then, if it was a part of a longer session.
    std::erase_if(found, [this](const Session& one) { return this->gone_at(fired_, one.window.end); });
    if (found.empty()) return;
    Sessions& sessions = keys_[key];
    std::vector<Session> here = std::exchange(sessions.all, {});
    for (Session& one : found) put(sessions, key, std::move(one));
    for (Session& one : here) put(sessions, key, std::move(one));
    sessions.newest = true;
  }

  void give_all() override {
    for (const auto& [key, sessions] : keys_) {
      for (const Session& one : sessions.all) this->result(key, one.window, one.sum);
    }
    this->owner_.flush();
    keys_.clear();
    ends_.clear();
  }
  void spill() override {
    RangedWriter run = runs_.begin();
    EventTime until = kNoTime;
    RecordWriter bytes;
    for (const auto* const one : in_order(keys_)) {
      bytes.clear();
      write_sessions(bytes, one->second);
      run.add({one->first, bytes.view()});
      for (const Session& session : one->second.all) until = std::max(until, session.window.end);
    }
    if (!run.empty()) runs_.add(run.finish(), until);
    keys_.clear();
    RangedWriter ends = end_runs_.begin();
    for (auto end = ends_.lower_bound({fired_ + 1, std::string()}); end != ends_.end(); ++end) {
      ends.add({disk_key(*end), {}});
      next_end_ = std::min(next_end_, end->first);
      until = end->first;
    }
    if (!ends.empty()) end_runs_.add(ends.finish(), until);
    ends_.clear();
  }
  void write_sessions(RecordWriter& bytes, const Sessions& sessions) const {
    bytes.number(static_cast<std::uint8_t>(sessions.newest));
    bytes.number(static_cast<std::uint64_t>(sessions.all.size()));
    for (const Session& one : sessions.all) {
      write_record(bytes, one.window);
      write_record(bytes, one.sum);
    }
  }
  static std::vector<Session> read_sessions(RecordBytes& in, bool& newest) {
    newest = in.number<std::uint8_t>() != 0;
    std::vector<Session> out;
    for (auto left = in.number<std::uint64_t>(); left > 0; --left) {
      const auto window = read_record<Window>(in);
      out.push_back({window, read_record<Sum>(in)});
    }
    return out;
  }
  // An end on disk: the time, then the key.
  static std::string disk_key(const End& end) {
    return std::string(KeyBytes<EventTime>(end.first).view()) + end.second;
  }
  static End end_in(std::string_view disk_key) {
    return {key_of<EventTime>(disk_key.substr(0, sizeof(EventTime))), std::string(disk_key.substr(sizeof(EventTime)))};
  }

  SpilledRuns runs_;
  SpilledRuns end_runs_;
  ByKeyBytes<Sessions> keys_{};
  std::set<End> ends_{};          // in memory; also some old ones
  EventTime next_end_ = kNoTime;  // none on disk that has not fired is before it
  EventTime fired_ = kNoTime;     // all windows that had ended then have fired
  std::size_t read_bytes_ = 0;    // since the size was looked at
};

}  // namespace lp::dataflow
