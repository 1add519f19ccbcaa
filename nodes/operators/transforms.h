#pragma once
// Operators without keys: map, filter, flat_map, and the times of events. Owned by a stage; one thread.

#include <algorithm>
#include <span>
#include <utility>

#include "nodes/dataflow/record_codec.h"
#include "nodes/stream/operator.h"

namespace lp::dataflow {

// f(record, collector).
template <class T, class U, class F>
class FlatMap final : public Operator, public Consumer<T>, public Producer<U> {
 public:
  explicit FlatMap(F f) : f_(std::move(f)) {}
  void take(std::span<const T> records) override {
    for (const T& one : records) f_(one, out_);
    out_.flush();
  }
  void mark(const Mark& mark) override { this->emit_mark(mark); }

 private:
  F f_;
  Collector<U> out_{*this};
};

// Sends a watermark behind the latest event by `disorder`, after each batch that brings a later event.
template <class T, class F>
class EventTimes final : public Operator, public Consumer<T>, public Producer<T> {
 public:
  EventTimes(F time_of, EventTime disorder) : time_of_(std::move(time_of)), disorder_(disorder) {}

  void take(std::span<const T> records) override {
    this->emit(records);
    for (const T& one : records) latest_ = std::max(latest_, static_cast<EventTime>(time_of_(one)));
    if (latest_ == kNoTime || latest_ - disorder_ <= sent_) return;
    sent_ = latest_ - disorder_;
    this->emit_mark({MarkKind::watermark, sent_});
  }
  void mark(const Mark& mark) override {
    if (mark.kind == MarkKind::watermark && mark.value != kEndOfTime) return;  // it speaks about other times
    this->emit_mark(mark);
  }

 private:
  F time_of_;
  const EventTime disorder_;
  EventTime latest_ = kNoTime;  // not saved: the receivers keep their watermarks
  EventTime sent_ = kNoTime;
};

}  // namespace lp::dataflow
