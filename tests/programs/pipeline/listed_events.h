#pragma once
// Events of a list as a flow, for tests of windows. One thread.

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "nodes/dataflow/record_codec.h"
#include "nodes/stream/operator.h"
#include "programs/pipeline/pipeline.h"

namespace lp::test {

struct Event {
  std::string key{};
  EventTime time = 0;
};
inline std::string key_of(const Event& event) { return event.key; }
inline EventTime time_of(const Event& event) { return event.time; }

// The events, in their order, in a batch each: so there is a watermark between any two. From number `wait_at` on, they
// come when a checkpoint with those before is complete.
class Listed final : public dataflow::Operator, public dataflow::StageSource, public dataflow::Producer<Event> {
 public:
  explicit Listed(std::vector<Event> events, std::size_t wait_at = SIZE_MAX)
      : events_(std::move(events)), wait_at_(wait_at) {}
  Step step() override {
    if (next_ == events_.size()) return Step::over;
    if (next_ >= wait_at_ && !saved_) return Step::idle;
    emit({&events_[next_++], 1});
    return Step::read;
  }
  void mark(const dataflow::Mark& mark) override { emit_mark(mark); }
  void cut(std::uint64_t number) override {
    if (next_ >= wait_at_ && cut_ == 0) cut_ = number;
  }
  void commit(std::uint64_t number) override { saved_ = saved_ || (cut_ > 0 && number >= cut_); }
  void save(dataflow::OperatorState& out) const override {
    dataflow::RecordWriter bytes;
    bytes.number(next_);
    out.push_back({.bytes = bytes.take(0)});
  }
  void load(const dataflow::StatePiece& piece) override {
    next_ = dataflow::RecordBytes(piece.bytes).number<std::size_t>();
    saved_ = next_ >= wait_at_;
  }

 private:
  const std::vector<Event> events_;
  const std::size_t wait_at_;
  std::size_t next_ = 0;
  std::uint64_t cut_ = 0;  // the first one that has the events before wait_at_
  bool saved_ = false;     // it is complete
};

inline TimedFlow<Event> events_of(const Pipeline& pipeline, std::vector<Event> events, Duration disorder = {},
                                  Duration ahead = std::chrono::hours(24), std::size_t wait_at = SIZE_MAX) {
  return pipeline
      .source<Event>({.name = "events", .replicas = 1},
                     [events = std::move(events), wait_at](dataflow::StageSite&) {
                       return std::make_unique<Listed>(events, wait_at);
                     })
      .event_time(time_of, disorder, ahead);
}

}  // namespace lp::test
