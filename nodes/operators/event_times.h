#pragma once
// The times of events: makes watermarks, which are behind the latest event by `disorder`. An event that is behind the
// watermark follows it: so its order decides whether an event is late, and not how many came with it. Each split of the
// stage's source has times of its own: an event that is in order in its file is not late, however the files are read.
//
// An event that is later than all before it in its split by more than `ahead` is from the future. It changes no
// watermark, and waits. When the next one is not from the future, the clock of the first was wrong, and it goes to the
// second output. When kAgreeing have come in a row, time has passed without events: they are taken as they are. So are
// those that wait at the end. Flink and Beam trust all times; Kafka compares them with a clock, so a replay would give
// another result.
//
// Owned by a stage; one thread.

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "lp/base/text.h"
#include "nodes/dataflow/record_codec.h"
#include "nodes/operators/late_events.h"
#include "nodes/stream/operator.h"
#include "nodes/stream/record_bag.h"
#include "nodes/stream/split_times.h"
#include "nodes/stream/stage_plan.h"

namespace lp::dataflow {

template <class T, class F>
class EventTimes final : public Operator,
                         public Consumer<T>,
                         public Producer<T>,
                         public LateEvents<T>,
                         private SplitTimes {
 public:
  static constexpr std::size_t kAgreeing = 8;

  EventTimes(StageSite& site, F time_of, EventTime disorder, EventTime ahead)
      : SplitTimes(site.splits, disorder), site_(site), time_of_(std::move(time_of)), ahead_(ahead) {}

  void take(std::span<const T> records) override {
    if (has_turned()) turn();
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
        if (time > present().latest) set_latest(time);
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
    note_time();
  }
  void mark(const Mark& mark) override {
    if (mark.kind == MarkKind::watermark) {
      if (mark.value != kEndOfTime) return;  // it speaks about other times
      give(take_waiting());
    }
    pass(mark);
  }

  void save(OperatorState& out) const override { save_times(out); }
  void load(const StatePiece& piece) override { load_times(piece); }
  void start(std::uint64_t) override {
    start_times();
    update_limit();
  }

 private:
  void times_changed() override {
    update_limit();
    send_watermark();
  }
  void update_limit() {
    limit_ = limit_of(present().latest);
    due_ = watermark();
    be_sure();
  }
  void give(const RecordBag& events) override {
    if (events.count == 0) return;
    const std::vector<T> all = events.records<T>();
    try {
      this->emit(all);
    } catch (...) {
      FailureSite site;
      fail_at(site, [&] { give_one_by_one(events, site.location); });
    }
  }
  void give_one_by_one(const RecordBag& events, std::string& location) {
    for (RecordBytes in(events.bytes); !in.empty();) {
      const std::string_view rest = in.rest();
      const T one = read_record<T>(in);
      location = "an event that waited for later ones, with the bytes " +
                 quote(rest.substr(0, rest.size() - in.rest().size()));
      this->emit({&one, 1});
    }
  }

  // Takes a time that may be a wrong one, or show that others were. Returns false when the event has to wait.
  bool believe(EventTime time) {
    Times& of = present();
    if (of.latest == kNoTime) {
      set_latest(time);
    } else if (time > limit_) {
      return false;
    } else {
      refuse();
      if (!of.agreed && of.latest > limit_of(time)) {
        set_latest(time);  // so the one before it was from the future; it has moved nothing
      } else {
        of.agreed = true;
        set_latest(std::max(of.latest, time));
      }
    }
    be_sure();
    return true;
  }
  void wait(const T& event) {
    RecordBag& waiting = present().waiting;
    waiting.add(event);
    be_sure();
    if (waiting.count < kAgreeing) return;
    const RecordBag bag = std::exchange(waiting, {});
    const std::vector<T> events = bag.records<T>();
    EventTime least = kEndOfTime;
    for (const T& one : events) least = std::min(least, static_cast<EventTime>(time_of_(one)));
    present().agreed = true;
    set_latest(least);
    be_sure();
    take(events);
  }
  // Those that wait are from the future.
  void refuse() {
    RecordBag& waiting = present().waiting;
    if (waiting.count == 0) return;
    site_.counts.future_events += waiting.count;
    this->emit_late(waiting.records<T>());
    waiting = {};
  }
  void set_latest(EventTime time) {
    Times& of = present();
    of.latest = time;
    limit_ = limit_of(time);
    due_ = std::min(mark_of(of), others());
  }
  EventTime limit_of(EventTime time) const {
    return time == kNoTime || time > kEndOfTime - ahead_ ? kEndOfTime : time + ahead_;
  }
  void be_sure() { sure_ = present().agreed && present().waiting.count == 0; }
  void send_watermark() {
    if (!is_due()) return;
    sent_ = due_;
    pass({MarkKind::watermark, sent_});
  }
  bool is_due() const { return due_ > sent_; }
  void pass(const Mark& mark) {
    this->emit_mark(mark);
    this->emit_late_mark(mark);
  }

  StageSite& site_;
  F time_of_;
  const EventTime ahead_;
  EventTime limit_ = kEndOfTime;  // a later event is from the future
  EventTime due_ = kNoTime;       // the watermark behind the latest events
  bool sure_ = false;             // a second event has confirmed the first one, and none waits
  EventTime sent_ = kNoTime;      // not saved: the receivers keep their watermarks
};

}  // namespace lp::dataflow
