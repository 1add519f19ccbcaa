#pragma once
// Sums over the windows of each key. A window fires when the watermark passes its end, and again for each event that
// comes within the allowed lateness. Later events go to the second output.
//
// Owned by a stage; one thread.

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nodes/dataflow/key_codec.h"
#include "nodes/dataflow/record_codec.h"
#include "nodes/operators/by_key_bytes.h"
#include "nodes/operators/late_events.h"
#include "nodes/operators/state_budget.h"
#include "nodes/operators/windows.h"
#include "nodes/stream/operator.h"

namespace lp::dataflow {

// The functions of a sum: what a window of a key is made of.
template <class K, class T, class TheSum, class KeyOf, class TimeOf, class Add, class Merge>
struct WindowFunctions {
  using Key = K;
  using Record = T;
  using Sum = TheSum;
  KeyOf key_of;
  TimeOf time_of;
  Add add;
  Merge merge;
  Windows windows;
  EventTime lateness = 0;
  bool parts = false;  // the results are parts of sums: their receivers wait for them, also when nothing comes
};

// The common part: late events, and the way of results.
template <class F>
class WindowBase : public Operator,
                   public Consumer<typename F::Record>,
                   public Producer<Windowed<typename F::Key, typename F::Sum>>,
                   public LateEvents<typename F::Record> {
 public:
  using K = typename F::Key;
  using T = typename F::Record;
  using Sum = typename F::Sum;

  void mark(const Mark& mark) override {
    if (mark.kind == MarkKind::idle && f_.parts) return;
    if (mark.kind == MarkKind::watermark && mark.value > watermark_) {
      fire(std::exchange(watermark_, mark.value));
      results_.flush();
      forget();
    }
    this->emit_mark(mark);
    this->emit_late_mark(mark);
  }
  void take(std::span<const T> records) override {
    for (const T& one : records) {
      const K key = f_.key_of(one);
      const KeyBytes<K> bytes(key);
      if (!add(bytes.view(), one, static_cast<EventTime>(f_.time_of(one)))) late_.push_back(one);
    }
    results_.flush();
    if (!late_.empty()) this->emit_late(std::exchange(late_, {}));
  }

 protected:
  WindowBase(const StageSite& site, F f) : f_(std::move(f)), budget_(site, "the windows") {}
  // Returns false when all windows of the event are gone.
  virtual bool add(std::string_view key, const T& record, EventTime time) = 0;
  virtual void fire(EventTime before) = 0;  // those that have ended since the watermark was `before`
  virtual void forget() = 0;                // those past their lateness
  virtual std::size_t size() const = 0;     // bytes of all windows

  bool over(const Window& window) const { return window.end <= watermark_; }
  bool gone(const Window& window) const { return over(window) && window.end <= watermark_ - f_.lateness; }
  // The record has changed a sum, and made so many bytes of new entries.
  void grow(const T& record, std::size_t more) {
    budget_.template changed<Sum>(record, more, [this] { return size(); });
  }
  // `key` stays where it is until the results are flushed.
  void result(std::string_view key, const Window& window, const Sum& sum) { results_({key_of<K>(key), window, sum}); }
  void save_watermark(OperatorState& out) const {
    RecordWriter bytes;
    bytes.number(watermark_);
    out.push_back({.group = kEveryReplica, .bytes = bytes.take(0)});
  }
  bool load_watermark(const StatePiece& piece) {
    if (piece.group != kEveryReplica) return false;
    // Replicas of which each has its own senders' times go on from the least of them.
    const auto watermark = RecordBytes(piece.bytes).number<EventTime>();
    watermark_ = std::exchange(loaded_, true) ? std::min(watermark_, watermark) : watermark;
    return true;
  }

  F f_;
  StateBudget budget_;
  EventTime watermark_ = kNoTime;

 private:
  bool loaded_ = false;  // a watermark
  Collector<Windowed<K, Sum>> results_{*this};
  std::vector<T> late_{};
};

// Tumbling and sliding windows.
template <class F>
class FixedWindows final : public WindowBase<F> {
 public:
  using typename WindowBase<F>::T;
  using typename WindowBase<F>::Sum;
  FixedWindows(const StageSite& site, F f) : WindowBase<F>(site, std::move(f)) {}

  void save(OperatorState& out) const override {
    this->save_watermark(out);
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
    if (this->load_watermark(piece)) return;
    for (RecordBytes in(piece.bytes); !in.empty();) {
      const auto window = read_record<Window>(in);
      const std::string key(in.text());
      windows_[window].insert_or_assign(key, read_record<Sum>(in));
    }
    this->budget_.grown(piece.bytes.size(), [this] { return size(); });
  }

 private:
  using Keys = ByKeyBytes<Sum>;

  bool add(std::string_view key, const T& record, EventTime time) override {
    bool in_one = false;
    this->f_.windows.each_of(time, [&](const Window& window) {
      if (this->gone(window)) return;
      in_one = true;
      Keys& keys = keys_of(window);
      auto at = keys.find(key);
      const bool added = at == keys.end();
      if (added) at = keys.emplace(std::string(key), Sum()).first;
      this->f_.add(at->second, record);
      if (added || !std::is_trivially_copyable_v<Sum>) this->grow(record, added ? bytes_of_key(key) + sizeof(Sum) : 0);
      if (this->over(window)) this->result(at->first, window, at->second);
    });
    return in_one;
  }
  std::size_t size() const override {
    std::size_t bytes = 0;
    for (const auto& [window, keys] : windows_) {
      for (const auto& [key, sum] : keys) bytes += bytes_of_key(key) + bytes_of(sum);
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
    for (const auto& [window, keys] : windows_) {
      if (!this->over(window)) break;  // ends come in the order of begins
      if (window.end <= before) continue;
      for (const auto& [key, sum] : keys) this->result(key, window, sum);
    }
  }
  void forget() override {
    while (!windows_.empty() && this->gone(windows_.begin()->first)) windows_.erase(windows_.begin());
    last_ = nullptr;
  }

  std::map<Window, Keys> windows_{};
  Keys* last_ = nullptr;  // those in the window that was used last
  Window last_window_{};
};

// Windows of a key that grow together.
template <class F>
class SessionWindows final : public WindowBase<F> {
 public:
  using typename WindowBase<F>::T;
  using typename WindowBase<F>::Sum;
  SessionWindows(const StageSite& site, F f) : WindowBase<F>(site, std::move(f)) {}

  void save(OperatorState& out) const override {
    this->save_watermark(out);
    GroupedWriter groups;
    for (const auto& [key, sessions] : keys_) {
      for (const Session& one : sessions) {
        RecordWriter& bytes = groups.of(key);
        bytes.text(key);
        write_record(bytes, one.window);
        write_record(bytes, one.sum);
      }
    }
    groups.finish(out);
  }
  void load(const StatePiece& piece) override {
    if (this->load_watermark(piece)) return;
    for (RecordBytes in(piece.bytes); !in.empty();) {
      const auto at = keys_.try_emplace(std::string(in.text())).first;
      const auto window = read_record<Window>(in);
      at->second.push_back({window, read_record<Sum>(in)});
      ends_.emplace(window.end, at->first);
    }
    this->budget_.grown(piece.bytes.size(), [this] { return size(); });
  }

 private:
  struct Session {
    Window window{};
    Sum sum{};
  };
  using Sessions = std::vector<Session>;

  bool add(std::string_view key, const T& record, EventTime time) override {
    Session session{this->f_.windows.last_of(time)};
    auto at = keys_.find(key);
    const auto joins = [&](const Session& one) {
      return one.window.begin < session.window.end && session.window.begin < one.window.end;
    };
    const bool alone = at == keys_.end() || std::none_of(at->second.begin(), at->second.end(), joins);
    if (alone && this->gone(session.window)) return false;
    if (at == keys_.end()) at = keys_.emplace(std::string(key), Sessions()).first;
    bool first = true;
    for (auto one = at->second.begin(); one != at->second.end();) {
      if (!joins(*one)) {
        ++one;
        continue;
      }
      session.window = {std::min(session.window.begin, one->window.begin),
                        std::max(session.window.end, one->window.end)};
      if (std::exchange(first, false)) {
        session.sum = std::move(one->sum);
      } else {
        this->f_.merge(session.sum, one->sum);
      }
      one = at->second.erase(one);
    }
    this->f_.add(session.sum, record);
    ends_.emplace(session.window.end, at->first);
    if (this->over(session.window)) this->result(at->first, session.window, session.sum);
    at->second.push_back(std::move(session));
    this->grow(record, 2 * bytes_of_key(key) + sizeof(Session));  // with its end
    return true;
  }
  std::size_t size() const override {
    std::size_t bytes = 0;
    for (const auto& [key, sessions] : keys_) {
      for (const Session& one : sessions) bytes += bytes_of_key(key) + sizeof(Window) + bytes_of(one.sum);
    }
    for (const auto& one : ends_) bytes += bytes_of_key(one.second) + sizeof(one.first);
    return bytes;
  }
  void fire(EventTime before) override {
    for (auto end = ends_.lower_bound({before + 1, std::string()});
         end != ends_.end() && end->first <= this->watermark_; ++end) {
      const auto at = keys_.find(end->second);
      if (at == keys_.end()) continue;
      for (const Session& one : at->second) {
        if (one.window.end == end->first) this->result(at->first, one.window, one.sum);
      }
    }
  }
  void forget() override {
    while (!ends_.empty() && this->gone({0, ends_.begin()->first})) {
      const auto at = keys_.find(ends_.begin()->second);
      if (at != keys_.end()) {
        std::erase_if(at->second, [this](const Session& one) { return this->gone(one.window); });
        if (at->second.empty()) keys_.erase(at);
      }
      ends_.erase(ends_.begin());
    }
  }

  ByKeyBytes<Sessions> keys_{};
  std::set<std::pair<EventTime, std::string>> ends_{};  // ends of sessions, also old ones
};

}  // namespace lp::dataflow
