#pragma once
// Records that a function makes, as the first operator of a stage: f(0), f(1), ... Its replicas take the numbers in
// turns. Owned by a stage; one thread.

#include <algorithm>
#include <cstdint>
#include <optional>
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
      : f_(std::move(f)), options_(options), replicas_(site.replicas), begun_(now()) {
    rest_.push_back({.next = site.replica, .every = site.replicas});
  }

  Step step() override {
    if (rest_.empty()) return Step::over;
    std::uint64_t room = due();
    if (room == 0) return Step::idle;
    made_ += room = std::min<std::uint64_t>(room, kBatch);
    for (; room > 0 && !rest_.empty(); --room) {
      Numbers& one = rest_[turn_ = turn_ + 1 < rest_.size() ? turn_ + 1 : 0];
      if (one.next < options_.count) {
        out_(f_(one.next));
        one.next += one.every;
      } else {
        rest_.erase(rest_.begin() + static_cast<std::ptrdiff_t>(turn_));
      }
    }
    out_.flush();
    return Step::read;
  }
  void mark(const Mark& mark) override { this->emit_mark(mark); }

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

  // How many records may be made now.
  std::uint64_t due() const {
    if (options_.rate <= 0) return kBatch;
    const auto until_now = static_cast<std::uint64_t>(to_seconds(now() - begun_) * options_.rate / replicas_);
    return until_now > made_ ? until_now - made_ : 0;
  }

  F f_;
  const GenerateOptions options_;
  const std::uint32_t replicas_;
  const Time begun_;
  std::uint64_t made_ = 0;  // in this incarnation
  bool loaded_ = false;
  std::vector<Numbers> rest_{};
  std::size_t turn_ = 0;
  Collector<T> out_{*this};
};

}  // namespace dataflow
}  // namespace lp
