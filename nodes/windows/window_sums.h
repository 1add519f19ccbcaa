#pragma once
// The sums of windows, by the bytes of their keys. It depends on the type of a sum alone, and not on those of keys and
// events: so few programs need sums of their own, and count() and group() have theirs in the library.
//
// A window fires when the watermark passes its end, and again for each event that comes within the allowed lateness.
// Windows that do not fit into memory are in sorted runs on disk; the results are the same.
//
// Owned by an operator; one thread.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "nodes/dataflow/record_codec.h"
#include "nodes/dataflow/record_size.h"
#include "nodes/operators/state_budget.h"
#include "nodes/stream/operator_state.h"
#include "nodes/stream/stage_plan.h"
#include "nodes/windows/windows.h"

namespace lp::dataflow {

struct WindowRules {
  Windows windows;
  EventTime lateness = 0;
  // The results are parts of sums: their receivers wait for them, also when nothing comes. When memory is full, all
  // parts are sent, and nothing is written to disk.
  bool parts = false;
};

// The operator that has the sums.
template <class Sum>
class SumsOwner {
 public:
  // Adds the record that it takes now.
  virtual void add_to(Sum& sum) = 0;
  virtual std::size_t record_bytes() const = 0;  // by which a sum may grow
  virtual void merge(std::string_view key, Sum& sum, const Sum& other) = 0;
  // `key` stays where it is until the next call of flush() or keys_go().
  virtual void give(std::string_view key, const Window& window, const Sum& sum) = 0;
  virtual void flush() = 0;
  virtual void keys_go() = 0;

 protected:
  ~SumsOwner() = default;
};

template <class Sum>
class WindowSums {
 public:
  using Owner = SumsOwner<Sum>;
  virtual ~WindowSums() = default;
  WindowSums(const WindowSums&) = delete;
  WindowSums& operator=(const WindowSums&) = delete;

  // Adds the owner's record, an event. Returns false when all its windows are gone.
  virtual bool add(std::string_view key, EventTime time) = 0;
  // Adds a part of a sum. Returns false when its window is gone.
  virtual bool add_part(std::string_view key, const Window& window) = 0;
  // Adds the event to copies of sums: throws when it cannot be added.
  virtual void try_add(std::string_view key, EventTime time) = 0;
  // Makes the results of the windows that have ended since the last watermark.
  void advance(EventTime watermark) {
    fire(std::exchange(watermark_, watermark));
    owner_.flush();
    forget();
  }
  EventTime watermark() const { return watermark_; }

  virtual void cut(std::uint64_t number) = 0;
  virtual void commit(std::uint64_t number) = 0;
  virtual void save(OperatorState& out) const = 0;
  virtual void load(const StatePiece& piece) = 0;

 protected:
  static constexpr std::uint8_t kRuns = 1;  // kinds of pieces of a checkpoint
  static constexpr std::uint8_t kEnds = 2;

  WindowSums(const StageSite& site, const WindowRules& rules, Owner& owner)
      : rules_(rules),
        owner_(owner),
        budget_(site, "the windows", 0.75),
        merge_memory_(static_cast<std::size_t>(site.options.memory) / 4) {}
  virtual void fire(EventTime before) = 0;  // those that have ended since the watermark was `before`
  virtual void forget() = 0;                // those past their lateness
  virtual std::size_t size() const = 0;     // bytes of all windows in memory
  virtual void spill() = 0;                 // writes all of them to disk
  virtual void give_all() = 0;              // makes results of all of them, and forgets them

  bool over(const Window& window) const { return window.end <= watermark_; }
  bool gone(const Window& window) const { return gone_at(watermark_, window.end); }
  bool gone_at(EventTime watermark, EventTime end) const {
    return end <= watermark && end <= watermark - rules_.lateness;
  }
  // The owner's record has changed a sum, and made so many bytes of new entries.
  void grow(std::size_t more) {
    if constexpr (!std::is_trivially_copyable_v<Sum>) more += owner_.record_bytes();
    loaded(more);
  }
  void loaded(std::size_t bytes) {
    if (!budget_.grown(bytes, [this] { return size(); })) return;
    owner_.flush();  // the results may refer to keys
    if (rules_.parts) {
      give_all();
    } else {
      spill();
    }
    budget_.emptied();
  }
  // A sum that may be large is handed on at once.
  void result(std::string_view key, const Window& window, const Sum& sum) {
    owner_.give(key, window, sum);
    if constexpr (!std::is_trivially_copyable_v<Sum>) owner_.flush();
  }
  // Joins a sum with another. Error::failed when it is larger than the memory.
  void join(std::string_view key, Sum& sum, const Sum& other) {
    owner_.merge(key, sum, other);
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

  const WindowRules rules_;
  Owner& owner_;
  StateBudget budget_;
  const std::size_t merge_memory_;
  EventTime watermark_ = kNoTime;

 private:
  bool loaded_ = false;  // a watermark
};

}  // namespace lp::dataflow
