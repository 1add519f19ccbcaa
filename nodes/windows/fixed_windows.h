#pragma once
// Sums in tumbling and sliding windows. On disk they are in the order of windows and keys, so the windows that fire
// together are next to one another.
//
// Owned by an operator; one thread.

#include <algorithm>
#include <map>
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
class FixedWindows final : public WindowSums<Sum> {
 public:
  FixedWindows(StageSite& site, const WindowRules& rules, SumsOwner<Sum>& owner)
      : WindowSums<Sum>(site, rules, owner), runs_(site, WindowSums<Sum>::kRuns) {}

  bool add(std::string_view key, EventTime time) override {
    bool in_one = false;
    this->rules_.windows.each_of(time, [&](const Window& window) {
      if (add_part(key, window)) {
        in_one = true;
      } else if (in_one && this->rules_.parts) {
        Sum alone{};  // the window may be there yet where the parts go
        this->owner_.add_to(alone);
        this->result(key, window, alone);
      }
    });
    return in_one;
  }
  void try_add(std::string_view key, EventTime time) override {
    this->rules_.windows.each_of(time, [&](const Window& window) {
      Sum sum{};
      if (const auto keys = windows_.find(window); keys != windows_.end()) {
        if (const auto at = keys->second.find(key); at != keys->second.end()) sum = at->second;
      }
      this->owner_.add_to(sum);
    });
  }
  bool add_part(std::string_view key, const Window& window) override {
    if (this->gone(window)) return false;
    Keys& keys = keys_of(window);
    auto at = keys.find(key);
    const bool added = at == keys.end();
    if (added) at = keys.emplace(std::string(key), Sum()).first;
    this->owner_.add_to(at->second);
    if (this->over(window)) {
      if (runs_.empty()) {
        this->result(at->first, window, at->second);
      } else {
        this->result(at->first, window, whole(window, at->first, at->second));
      }
    }
    if (added || !std::is_trivially_copyable_v<Sum>) this->grow(added ? bytes_of_key(key) + sizeof(Sum) : 0);
    return true;
  }

  void cut(std::uint64_t number) override { runs_.cut(number); }
  void commit(std::uint64_t number) override { runs_.commit(number); }
  void save(OperatorState& out) const override {
    this->save_watermark(out);
    runs_.save(out);
    GroupedWriter groups;
    for (const auto& [window, keys] : windows_) {
      for (const auto& [key, sum] : keys) {
        RecordWriter& bytes = groups.of(key);
        write_record(bytes, window);
        bytes.text(key);
        write_record(bytes, sum);
      }
    }
    groups.finish(out);
  }
  void load(const StatePiece& piece) override {
    if (this->load_watermark(piece) || runs_.load(piece)) return;
    for (RecordBytes in(piece.bytes); !in.empty();) {
      const auto window = read_record<Window>(in);
      const std::string_view key = in.text();
      auto sum = read_record<Sum>(in);
      const auto [at, added] = windows_[window].try_emplace(std::string(key), std::move(sum));
      if (!added) this->owner_.merge(key, at->second, sum);  // parts of another replica
    }
    this->loaded(piece.bytes.size());
  }

 private:
  using Keys = ByKeyBytes<Sum>;
  using Entry = typename Keys::value_type;

  // Goes through the sums of the windows in memory that end after `before` and not after `last`, in the order of
  // windows and keys.
  class InOrder {
   public:
    InOrder(const std::map<Window, Keys>& windows, EventTime before, EventTime last)
        : next_(windows.begin()), end_(windows.end()), last_(last) {
      while (next_ != end_ && next_->first.end <= before) ++next_;
      open();
    }
    bool over() const { return at_ == entries_.size(); }
    const Window& window() const { return window_; }
    const Entry& entry() const { return *entries_[at_]; }
    void next() {
      if (++at_ == entries_.size()) open();
    }
    bool before(const Window& window, std::string_view key) const {
      return !over() && (window_ != window ? window_ < window : entry().first < key);
    }
    bool is_at(const Window& window, std::string_view key) const {
      return !over() && window_ == window && entry().first == key;
    }

   private:
    void open() {
      entries_.clear();
      at_ = 0;
      for (; entries_.empty() && next_ != end_ && next_->first.end <= last_; ++next_) {
        window_ = next_->first;
        entries_ = in_order(next_->second);
      }
    }
    typename std::map<Window, Keys>::const_iterator next_;
    const typename std::map<Window, Keys>::const_iterator end_;
    const EventTime last_;
    Window window_{};
    std::vector<const Entry*> entries_{};
    std::size_t at_ = 0;
  };

  std::size_t size() const override {
    std::size_t bytes = 0;
    for (const auto& [window, keys] : windows_) {
      for (const auto& [key, sum] : keys) bytes += bytes_of_key(key) + record_size(sum);
    }
    return bytes;
  }
  Keys& keys_of(const Window& window) {
    if (last_ == nullptr || last_window_ != window) {
      last_ = &windows_[window];
      last_window_ = window;
    }
    return *last_;
  }

  void fire(EventTime before) override {
    if (!runs_.empty() && this->rules_.windows.may_end_in(before, this->watermark_)) {
      const KeyRange range = ends_in(before, this->watermark_);
      if (runs_.blocks(range) > 0) return fire_all(range, before);
    }
    for (const auto& [window, keys] : windows_) {
      if (!this->over(window)) break;  // ends come in the order of begins
      if (window.end <= before) continue;
      for (const auto& [key, sum] : keys) this->result(key, window, sum);
    }
  }
  // Those on disk, too.
  void fire_all(const KeyRange& range, EventTime before) {
    InOrder here(windows_, before, this->watermark_);
    const auto give = [&](const Window& window, std::string_view key, const Sum& sum) {
      this->result(key, window, sum);
      this->owner_.keys_go();
    };
    runs_.each_in(range, this->merge_memory_, [&](Groups& group) {
      const Window window = window_of(group.key());
      const std::string_view key = key_in(group.key());
      if (!runs_.owns(key)) return true;
      for (; here.before(window, key); here.next()) give(here.window(), here.entry().first, here.entry().second);
      Sum sum = sum_of(group);
      if (here.is_at(window, key)) {
        this->join(key, sum, here.entry().second);
        here.next();
      }
      give(window, key, sum);
      return true;
    });
    for (; !here.over(); here.next()) give(here.window(), here.entry().first, here.entry().second);
  }
  void forget() override {
    while (!windows_.empty() && this->gone(windows_.begin()->first)) windows_.erase(windows_.begin());
    last_ = nullptr;
    runs_.forget([this](EventTime until) { return this->gone({0, until}); });
  }

  void give_all() override {
    for (const auto& [window, keys] : windows_) {
      for (const auto& [key, sum] : keys) this->result(key, window, sum);
    }
    this->owner_.flush();
    windows_.clear();
    last_ = nullptr;
  }
  void spill() override {
    RangedWriter run = runs_.begin();
    RecordWriter sum;
    for (InOrder one(windows_, kNoTime, kEndOfTime); !one.over(); one.next()) {
      sum.clear();
      write_record(sum, one.entry().second);
      run.add({disk_key(one.window(), one.entry().first), sum.view()});
    }
    const EventTime until = windows_.rbegin()->first.end;
    windows_.clear();
    last_ = nullptr;
    runs_.add(run.finish(), until);
  }
  // The sum of a window of which some is on disk.
  Sum whole(const Window& window, std::string_view key, const Sum& here) {
    Sum sum{};
    bool found = false;
    runs_.each_in(range_of_key(disk_key(window, key)), this->merge_memory_, [&](Groups& group) {
      sum = sum_of(group);
      found = true;
      return false;
    });
    if (!found) return here;
    this->join(key, sum, here);
    return sum;
  }
  Sum sum_of(Groups& group) {
    Sum sum{};
    bool first = true;
    for (std::string_view bytes; group.next_value(bytes); first = false) {
      RecordBytes in(bytes);
      if (first) {
        sum = read_record<Sum>(in);
      } else {
        this->join(key_in(group.key()), sum, read_record<Sum>(in));
      }
    }
    return sum;
  }

  // A key on disk: the begin of the window, then the key.
  std::string_view disk_key(const Window& window, std::string_view key) {
    disk_key_.assign(KeyBytes<EventTime>(window.begin).view());
    disk_key_.append(key);
    return disk_key_;
  }
  Window window_of(std::string_view disk_key) const {
    const auto begin = key_of<EventTime>(disk_key.substr(0, sizeof(EventTime)));
    return {begin, begin + this->rules_.windows.size()};
  }
  static std::string_view key_in(std::string_view disk_key) { return disk_key.substr(sizeof(EventTime)); }
  // The windows that end after `before` and not after `last`.
  KeyRange ends_in(EventTime before, EventTime last) const {
    const EventTime size = this->rules_.windows.size();
    const auto begins_at = [](EventTime time) { return std::string(KeyBytes<EventTime>(time).view()); };
    KeyRange out{.last = last == kEndOfTime};
    if (before >= kNoTime + size) out.begin = begins_at(before - size + 1);
    if (!out.last && last >= kNoTime + size) out.end = begins_at(last - size + 1);
    return out;
  }

  SpilledRuns runs_;
  std::map<Window, Keys> windows_{};
  Keys* last_ = nullptr;  // those in the window that was used last
  Window last_window_{};
  std::string disk_key_{};
};

}  // namespace lp::dataflow
