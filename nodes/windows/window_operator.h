#pragma once
// Divides events into windows, and makes the sums of these: the operator of a stage around its sums. Events that come
// later than the allowed lateness go to the second output.
//
// Owned by a stage; one thread.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "nodes/dataflow/key_codec.h"
#include "nodes/dataflow/record_size.h"
#include "nodes/operators/late_events.h"
#include "nodes/operators/state_budget.h"
#include "nodes/stream/operator.h"
#include "nodes/stream/record_bag.h"
#include "nodes/windows/make_sums.h"
#include "nodes/windows/window_sums.h"
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
};

// Sums to which an event of any kind can be added.
template <class Sum>
inline constexpr bool kAddsAll = std::is_same_v<Sum, RecordBag>;

template <class F>
class WindowOperator final : public Operator,
                             public Consumer<typename F::Record>,
                             public Producer<Windowed<typename F::Key, typename F::Sum>>,
                             public LateEvents<typename F::Record>,
                             private SumsOwner<typename F::Sum> {
 public:
  using K = typename F::Key;
  using T = typename F::Record;
  using Sum = typename F::Sum;

  WindowOperator(StageSite& site, F f, const WindowRules& rules)
      : bad_(site.bad),
        f_(std::move(f)),
        parts_(rules.parts),
        budget_(site, "the events of a window"),
        sums_(make_sums<Sum>(site, rules, *this)) {}

  void mark(const Mark& mark) override {
    if (mark.kind == MarkKind::idle && parts_) return;
    if (mark.kind == MarkKind::watermark && mark.value > sums_->watermark()) sums_->advance(mark.value);
    this->emit_mark(mark);
    this->emit_late_mark(mark);
  }
  void take(std::span<const T> records) override {
    for (const T& one : records) {
      record_ = &one;
      if (bad_.allowed() && !fits()) continue;
      if (add()) continue;
      if (parts_) {  // both go the same way, in the order in which they came
        results_.flush();
        this->emit_late({&one, 1});
      } else {
        late_.push_back(one);
      }
    }
    results_.flush();
    if (!late_.empty()) this->emit_late(std::exchange(late_, {}));
  }

  void cut(std::uint64_t number) override { sums_->cut(number); }
  void commit(std::uint64_t number) override { sums_->commit(number); }
  void save(OperatorState& out) const override { sums_->save(out); }
  void load(const StatePiece& piece) override { sums_->load(piece); }

 private:
  void add_to(Sum& sum) override {
    if constexpr (kAddsAll<Sum>) {
      f_.add(sum, *record_);
    } else {
      try {
        f_.add(sum, *record_);
      } catch (...) {
        fail_at({.key = key_name(f_.key_of(*record_))}, [&] { f_.add(sum, *record_); });
      }
    }
  }
  std::size_t record_bytes() const override { return record_size(*record_); }
  void merge(std::string_view key, Sum& sum, const Sum& other) override {
    if constexpr (kAddsAll<Sum>) {
      f_.merge(sum, other);
    } else {
      try {
        f_.merge(sum, other);
      } catch (...) {
        fail_at({.location = "the sums of " + key_name(key_of<K>(key))}, [&] { f_.merge(sum, other); });
      }
    }
  }
  void give(std::string_view key, const Window& window, const Sum& sum) override {
    if constexpr (kAddsAll<Sum>) {
      if (sum.template bytes_with_records<T>() > budget_.memory()) {
        budget_.fail("the events of " + name_of(key_of<K>(key), window), "make several keys of this one");
      }
    }
    results_({key_of<K>(key), window, sum});
  }
  void flush() override { results_.flush(); }
  void keys_go() override {
    if constexpr (std::is_same_v<K, std::string_view>) results_.flush();
  }

  static std::string name_of(const K& key, const Window& window) {
    return "the window from " + std::to_string(window.begin) + " to " + std::to_string(window.end) + " of " +
           key_name(key);
  }
  EventTime checked_time() const {
    const auto at = static_cast<EventTime>(f_.time_of(*record_));
    check_event_time(at);
    return at;
  }
  // FunctionError when the record has no time for which there are windows: a restart would not give it another one.
  EventTime time(const K& key) const {
    try {
      return checked_time();
    } catch (...) {
      fail_at({.key = key_name(key)}, [this] { checked_time(); });
    }
  }
  bool add() {
    const K key = f_.key_of(*record_);
    const KeyBytes<K> bytes(key);
    if (const Window* const part = f_.part_of(*record_)) return sums_->add_part(bytes.view(), *part);
    return sums_->add(bytes.view(), time(key));
  }
  // Whether the event can be added; else it is left out, and has changed nothing.
  bool fits() {
    if (f_.part_of(*record_) != nullptr) return true;
    try {
      const K key = f_.key_of(*record_);
      const EventTime at = time(key);
      if constexpr (!kAddsAll<Sum>) sums_->try_add(KeyBytes<K>(key).view(), at);
    } catch (...) {
      bad_.skip();
      return false;
    }
    return true;
  }

  const BadRecords& bad_;
  F f_;
  const bool parts_;
  const StateBudget budget_;   // for a window whose events its group has at a time
  const T* record_ = nullptr;  // that is added now
  std::unique_ptr<WindowSums<Sum>> sums_;
  Results<Windowed<K, Sum>> results_{*this, [](const auto& one) { return name_of(one.key, one.window); }};
  std::vector<T> late_{};
};

}  // namespace lp::dataflow
