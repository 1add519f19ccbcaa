#pragma once
// The common part of windows: sums over the events of each key. A window fires when the watermark passes its end, and
// again for each event that comes within the allowed lateness. Later events go to the second output. Windows that do
// not fit into memory are in sorted runs on disk; the results are the same.
//
// Owned by a stage; one thread.

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "nodes/dataflow/groups.h"
#include "nodes/dataflow/key_codec.h"
#include "nodes/dataflow/record_size.h"
#include "nodes/operators/late_events.h"
#include "nodes/operators/state_budget.h"
#include "nodes/stream/operator.h"
#include "nodes/windows/spilled_runs.h"
#include "nodes/windows/windows.h"

namespace lp::dataflow {

// For records that are all events.
struct NoParts {
  template <class T>
  const Window* operator()(const T&) const {
    return nullptr;
  }
};

// The functions of a sum: what a window of a key is made of.
template <class K, class T, class TheSum, class KeyOf, class TimeOf, class PartOf, class Add, class Merge>
struct WindowFunctions {
  using Key = K;
  using Record = T;
  using Sum = TheSum;
  KeyOf key_of;
  TimeOf time_of;
  PartOf part_of;  // the window of a record that is a part of a sum; null for an event
  Add add;
  Merge merge;
  Windows windows;
  EventTime lateness = 0;
  // The results are parts of sums: their receivers wait for them, also when nothing comes. When memory is full, all
  // parts are sent, and nothing is written to disk.
  bool parts = false;
};

// Sums to which an event of any kind can be added.
template <class Sum>
inline constexpr bool kAddsAll = false;

template <class F>
class WindowBase : public Operator,
                   public Consumer<typename F::Record>,
                   public Producer<Windowed<typename F::Key, typename F::Sum>>,
                   public LateEvents<typename F::Record> {
 public:
  using K = typename F::Key;
  using T = typename F::Record;
  using Sum = typename F::Sum;

  void mark(const Mark& mark) final {
    if (mark.kind == MarkKind::idle && f_.parts) return;
    if (mark.kind == MarkKind::watermark && mark.value > watermark_) {
      fire(std::exchange(watermark_, mark.value));
      results_.flush();
      forget();
    }
    this->emit_mark(mark);
    this->emit_late_mark(mark);
  }
  void take(std::span<const T> records) final {
    for (const T& one : records) {
      if (bad_.allowed() && !fits(one)) continue;
      const K key = f_.key_of(one);
      if (add(KeyBytes<K>(key).view(), one)) continue;
      if (f_.parts) {  // both go the same way, in the order in which they came
        results_.flush();
        this->emit_late({&one, 1});
      } else {
        late_.push_back(one);
      }
    }
    results_.flush();
    if (!late_.empty()) this->emit_late(std::exchange(late_, {}));
  }

 protected:
  static constexpr std::uint8_t kRuns = 1;  // kinds of pieces of a checkpoint
  static constexpr std::uint8_t kEnds = 2;

  WindowBase(const StageSite& site, F f)
      : bad_(site.bad),
        f_(std::move(f)),
        budget_(site, "the windows", 0.75),
        merge_memory_(static_cast<std::size_t>(site.options.memory) / 4) {}
  // Returns false when all windows of the event are gone.
  virtual bool add(std::string_view key, const T& record) = 0;
  // Adds the event to copies of sums: throws when it cannot be added.
  virtual void try_add(std::string_view key, const T& record) = 0;
  virtual void fire(EventTime before) = 0;  // those that have ended since the watermark was `before`
  virtual void forget() = 0;                // those past their lateness
  virtual std::size_t size() const = 0;     // bytes of all windows in memory
  virtual void spill() = 0;                 // writes all of them to disk
  virtual void give_all() = 0;              // makes results of all of them, and forgets them

  bool over(const Window& window) const { return window.end <= watermark_; }
  bool gone(const Window& window) const { return gone_at(watermark_, window.end); }
  bool gone_at(EventTime watermark, EventTime end) const { return end <= watermark && end <= watermark - f_.lateness; }
  // The record has changed a sum, and made so many bytes of new entries.
  void grow(const T& record, std::size_t more) {
    if (budget_.template changed<Sum>(record, more, [this] { return size(); })) make_room();
  }
  void loaded(std::size_t bytes) {
    if (budget_.grown(bytes, [this] { return size(); })) make_room();
  }
  // `key` stays where it is until the results are flushed. A sum that may be large is handed on at once.
  void result(std::string_view key, const Window& window, const Sum& sum) {
    results_({key_of<K>(key), window, sum});
    if constexpr (!std::is_trivially_copyable_v<Sum>) results_.flush();
  }
  void flush() { results_.flush(); }
  // Joins a sum with another. Error::failed when it is larger than the memory.
  void join(Sum& sum, const Sum& other) {
    f_.merge(sum, other);
    if constexpr (!std::is_trivially_copyable_v<Sum>) {
      if (record_size(sum) > budget_.memory()) budget_.fail();
    }
  }

  void save_watermark(OperatorState& out) const {
    RecordWriter bytes;
    bytes.number(std::uint8_t{0});
    bytes.number(watermark_);
    out.push_back({.group = kEveryReplica, .bytes = bytes.take(0)});
  }
  bool load_watermark(const StatePiece& piece) {
    if (piece.group != kEveryReplica) return false;
    RecordBytes in(piece.bytes);
    if (in.number<std::uint8_t>() != 0) return false;
    // Replicas of which each has its own senders' times go on from the least of them.
    const auto watermark = in.number<EventTime>();
    watermark_ = std::exchange(loaded_, true) ? std::min(watermark_, watermark) : watermark;
    return true;
  }

  const BadRecords& bad_;
  F f_;
  StateBudget budget_;
  const std::size_t merge_memory_;
  EventTime watermark_ = kNoTime;

 private:
  // Whether the event can be added; else it is left out, and has changed nothing.
  bool fits(const T& record) {
    if (f_.part_of(record) != nullptr) return true;
    try {
      const K key = f_.key_of(record);
      static_cast<void>(f_.time_of(record));
      if constexpr (!kAddsAll<Sum>) try_add(KeyBytes<K>(key).view(), record);
    } catch (...) {
      bad_.skip();
      return false;
    }
    return true;
  }
  void make_room() {
    results_.flush();  // they may refer to keys
    if (f_.parts) {
      give_all();
    } else {
      spill();
    }
    budget_.emptied();
  }

  bool loaded_ = false;  // a watermark
  Collector<Windowed<K, Sum>> results_{*this};
  std::vector<T> late_{};
};

// Entries of a table by the bytes of their keys, in their order.
template <class Table>
std::vector<typename Table::const_pointer> in_order(const Table& table) {
  std::vector<typename Table::const_pointer> out;
  out.reserve(table.size());
  for (const auto& one : table) out.push_back(&one);
  std::sort(out.begin(), out.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
  return out;
}

}  // namespace lp::dataflow
