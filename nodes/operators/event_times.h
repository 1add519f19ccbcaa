#pragma once
// The times of events: makes watermarks, which are behind the latest event by `disorder`. An event that is behind the
// watermark follows it: so its order decides whether an event is late, and not how many came with it.
//
// An event that is later than all before it by more than `ahead` is from the future. It changes no watermark, and
// waits. When the next one is not from the future, the clock of the first was wrong, and it goes to the second output.
// When kAgreeing have come in a row, time has passed without events: they are taken as they are. So are those that wait
// at the end. Flink and Beam trust all times; Kafka compares them with a clock, so a replay would give another result.
//
// Owned by a stage; one thread.

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "nodes/dataflow/record_codec.h"
#include "nodes/operators/late_events.h"
#include "nodes/operators/record_bag.h"
#include "nodes/stream/operator.h"
#include "nodes/stream/stage_plan.h"

namespace lp::dataflow {

template <class T, class F>
class EventTimes final : public Operator, public Consumer<T>, public Producer<T>, public LateEvents<T> {
 public:
  static constexpr std::size_t kAgreeing = 8;

  EventTimes(StageSite& site, F time_of, EventTime disorder, EventTime ahead)
      : site_(site), time_of_(std::move(time_of)), disorder_(disorder), ahead_(ahead) {}

  void take(std::span<const T> records) override {
    std::size_t begin = 0;  // the first record that is not handed on
    for (std::size_t i = 0; i < records.size(); ++i) {
      EventTime time = 0;
      bool bad = false;
      try {
        time = static_cast<EventTime>(time_of_(records[i]));
      } catch (...) {
        site_.bad.skip();
        bad = true;
      }
      if (time <= limit_ && sure_ && !bad) [[likely]] {
        if (time > latest_) set_latest(time);
      } else if (bad || !believe(time)) {
        this->emit(records.subspan(begin, i - begin));
        begin = i + 1;
        if (!bad) wait(records[i]);
        continue;
      }
      if (time >= due_ || !is_due()) [[likely]] {
        continue;
      }
      this->emit(records.subspan(begin, i - begin));
      begin = i;
      send_watermark();
    }
    this->emit(records.subspan(begin));
    send_watermark();
  }
  void mark(const Mark& mark) override {
    if (mark.kind == MarkKind::watermark) {
      if (mark.value != kEndOfTime) return;  // it speaks about other times
      this->emit(waiting_.records<T>());
      waiting_ = {};
    }
    pass(mark);
  }

  void save(OperatorState& out) const override {
    if (agreed_) {
      RecordWriter bytes;
      bytes.number(latest_);
      out.push_back({.group = kEveryReplica, .bytes = bytes.take(0)});
    }
    if (waiting_.count == 0) return;
    RecordWriter bytes;
    bytes.number(waiting_.count);
    bytes.text(waiting_.bytes);
    out.push_back({.group = kAnyReplica, .bytes = bytes.take(0)});
  }
  void load(const StatePiece& piece) override {
    RecordBytes in(piece.bytes);
    if (piece.group == kEveryReplica) {  // if several replicas saved it, the least one
      const auto latest = in.number<EventTime>();
      set_latest(agreed_ ? std::min(latest_, latest) : latest);
      agreed_ = true;
    } else {
      const auto count = in.number<std::uint64_t>();
      waiting_.add_bytes(in.text(), count);
    }
    be_sure();
  }

 private:
  // Takes a time that may be a wrong one, or show that others were. Returns false when the event has to wait.
  bool believe(EventTime time) {
    if (latest_ == kNoTime) {
      set_latest(time);
    } else if (time > limit_) {
      return false;
    } else {
      refuse();
      if (!agreed_ && latest_ > limit_of(time)) {
        set_latest(time);  // so the one before it was from the future; it has moved nothing
      } else {
        agreed_ = true;
        set_latest(std::max(latest_, time));
      }
    }
    be_sure();
    return true;
  }
  void wait(const T& event) {
    waiting_.add(event);
    be_sure();
    if (waiting_.count < kAgreeing) return;
    const RecordBag bag = std::exchange(waiting_, {});
    const std::vector<T> events = bag.records<T>();
    EventTime least = kEndOfTime;
    for (const T& one : events) least = std::min(least, static_cast<EventTime>(time_of_(one)));
    set_latest(least);
    agreed_ = true;
    be_sure();
    take(events);
  }
  // Those that wait are from the future.
  void refuse() {
    if (waiting_.count == 0) return;
    site_.counts.future_events += waiting_.count;
    this->emit_late(waiting_.records<T>());
    waiting_ = {};
  }
  void set_latest(EventTime time) {
    latest_ = time;
    limit_ = limit_of(time);
    due_ = latest_ < kNoTime + disorder_ ? kNoTime : latest_ - disorder_;
  }
  EventTime limit_of(EventTime time) const { return time > kEndOfTime - ahead_ ? kEndOfTime : time + ahead_; }
  void be_sure() { sure_ = agreed_ && waiting_.count == 0; }
  void send_watermark() {
    if (!is_due()) return;
    sent_ = due_;
    pass({MarkKind::watermark, sent_});
  }
  bool is_due() const { return agreed_ && due_ > sent_; }
  void pass(const Mark& mark) {
    this->emit_mark(mark);
    this->emit_late_mark(mark);
  }

  StageSite& site_;
  F time_of_;
  const EventTime disorder_;
  const EventTime ahead_;
  EventTime latest_ = kNoTime;
  EventTime limit_ = kEndOfTime;  // a later event is from the future
  EventTime due_ = kNoTime;       // the watermark behind latest_
  bool agreed_ = false;           // a second event has confirmed the first one
  bool sure_ = false;             // and none waits
  EventTime sent_ = kNoTime;      // not saved: the receivers keep their watermarks
  RecordBag waiting_{};
};

}  // namespace lp::dataflow
