#pragma once
// Records that a function makes, as the first operator of a stage: f(0), f(1), ... Its replicas take the numbers in
// turns. Owned by a stage; one thread.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/scheduler.h"
#include "nodes/dataflow/record_codec.h"
#include "nodes/stream/operator.h"
#include "nodes/stream/stage_plan.h"

namespace lp {

struct GenerateOptions {
  std::uint64_t count = UINT64_MAX;  // records; the flow ends behind them
  double rate = 0;                   // records in a second, of all replicas together; 0: as fast as possible
};

namespace dataflow {

template <class T, class F>
class Generator final : public Operator, public StageSource, public Producer<T> {
 public:
  Generator(const StageSite& site, F f, const GenerateOptions& options)
      : bad_(site.bad), f_(std::move(f)), options_(options), replicas_(site.replicas), begun_(now()) {
    rest_.push_back({.next = site.replica, .every = site.replicas});
  }

  Step step() override {
    if (rest_.empty()) return Step::over;
    const std::uint64_t room = std::min<std::uint64_t>(due(), bad_.allowed() ? 1 : kBatch);
    if (room == 0) return Step::idle;
    made_ += room;
    before_ = rest_;
    turn_before_ = turn_;
    batch_ = room;
    for (std::uint64_t i = 0; i < room && !rest_.empty(); ++i) make();
    out_.flush();
    return Step::read;
  }
  // Until the next record is due; the records of a millisecond are made together.
  Duration idle_time() const override {
    const double due = static_cast<double>(made_ + 1) * replicas_ / options_.rate;
    return std::max<Duration>(from_seconds(due - to_seconds(now() - begun_)), std::chrono::milliseconds(1));
  }
  void mark(const Mark& mark) override { this->emit_mark(mark); }
  void again() override {
    out_.clear();
    rest_ = before_;
    turn_ = turn_before_;
    for (std::uint64_t i = 0; i < batch_ && !rest_.empty(); ++i) {
      make();
      out_.flush();
    }
  }
  bool repeats() const override { return true; }
  std::string location() const override { return "the record of the number " + std::to_string(number_); }

  void save(OperatorState& out) const override {
    for (const Numbers& one : rest_) {
      RecordWriter bytes;
      write_record(bytes, one);
      out.push_back({.bytes = bytes.take(0)});
    }
    out.push_back({.group = kEveryReplica});  // the numbers were divided
  }
  void load(const StatePiece& piece) override {
    if (!std::exchange(loaded_, true)) rest_.clear();
    if (piece.bytes.empty()) return;
    RecordBytes in(piece.bytes);
    rest_.push_back(read_record<Numbers>(in));
  }

 private:
  struct Numbers {
    std::uint64_t next = 0;
    std::uint64_t every = 1;
  };

  void make() {
    Numbers& one = rest_[turn_ = turn_ + 1 < rest_.size() ? turn_ + 1 : 0];
    if (one.next >= options_.count) {
      rest_.erase(rest_.begin() + static_cast<std::ptrdiff_t>(turn_));
      return;
    }
    number_ = one.next;
    one.next += one.every;
    out_.make(bad_, [this] { out_(f_(number_)); });
  }
  // How many records may be made now.
  std::uint64_t due() const {
    if (options_.rate <= 0) return kBatch;
    const auto until_now = static_cast<std::uint64_t>(to_seconds(now() - begun_) * options_.rate / replicas_);
    return until_now > made_ ? until_now - made_ : 0;
  }

  const BadRecords& bad_;
  F f_;
  const GenerateOptions options_;
  const std::uint32_t replicas_;
  const Time begun_;
  std::uint64_t made_ = 0;  // in this incarnation
  bool loaded_ = false;
  std::vector<Numbers> rest_{};
  std::size_t turn_ = 0;
  std::uint64_t number_ = 0;       // the last record has it
  std::vector<Numbers> before_{};  // rest_, before the last batch; the next two belong to it
  std::size_t turn_before_ = 0;
  std::uint64_t batch_ = 0;
  Collector<T> out_{*this};
};

}  // namespace dataflow
}  // namespace lp
