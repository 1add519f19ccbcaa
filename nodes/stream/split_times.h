#pragma once
// The times of the splits that a stage reads, and the watermark that follows from them: the least of the splits that
// are open and not idle; when all are idle, the latest of theirs. A source without splits has the times of one. The
// base of an operator, owned by it; one thread.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "nodes/stream/operator_state.h"
#include "nodes/stream/record_bag.h"
#include "nodes/stream/splits.h"

namespace lp::dataflow {

class SplitTimes : private Splits::Follower {
 protected:
  struct Times {
    EventTime latest = kNoTime;
    bool agreed = false;  // a second event has confirmed the first one
    bool loaded = false;
    RecordBag waiting{};  // events
  };

  SplitTimes(Splits& splits, EventTime disorder) : splits_(splits), disorder_(disorder) { splits.add(*this); }
  ~SplitTimes() = default;

  // Whether the source reads another split than present() is about.
  bool has_turned() const { return splits_.current() != split_; }
  void turn() { turn_to(splits_.current()); }
  Times& present() { return *present_; }
  void note_time() {
    if (split_ != nullptr) splits_.current()->time = mark_of(*present_);
  }

  EventTime mark_of(const Times& of) const {
    return !of.agreed || of.latest < kNoTime + disorder_ ? kNoTime : of.latest - disorder_;
  }
  // The least watermark of the other splits that hold this one back; kEndOfTime: none does.
  EventTime others() const { return others_; }
  EventTime watermark() const;
  // The events that wait in all splits.
  RecordBag take_waiting();

  void save_times(OperatorState& out) const;
  void load_times(const StatePiece& piece);
  void start_times();  // everything is loaded

  // present() or others() are different.
  virtual void times_changed() = 0;
  virtual void give(const RecordBag& events) = 0;

 private:
  void opened(const Split& split) override;
  void closed(const Split& split) override;
  void changed(const Split& split) override;
  void turn_to(const Split* next);
  void hold(const Split& split, bool holds);
  Times& times_of(const Split* split) { return times_[split == nullptr ? std::string() : split->name]; }

  Splits& splits_;
  const EventTime disorder_;
  std::map<std::string, Times> times_{};                    // by split; "" is for a source without splits
  std::set<std::pair<EventTime, const Split*>> holding_{};  // the others, by their watermarks
  EventTime others_ = kEndOfTime;
  const Split* split_ = nullptr;  // the present one
  Times* present_ = &times_[{}];
  bool started_ = false;
};

}  // namespace lp::dataflow
