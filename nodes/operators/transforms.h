#pragma once
// Operators without keys: map, filter and flat_map. Owned by a stage; one thread.

#include <span>
#include <utility>

#include "nodes/stream/operator.h"
#include "nodes/stream/stage_plan.h"

namespace lp::dataflow {

// f(record, collector).
template <class T, class U, class F>
class FlatMap final : public Operator, public Consumer<T>, public Producer<U> {
 public:
  FlatMap(const StageSite& site, F f) : bad_(site.bad), f_(std::move(f)) {}
  void take(std::span<const T> records) override {
    out_.clear();
    for (const T& one : records) {
      out_.make(bad_, [&] { f_(one, out_); });
    }
    out_.flush();
  }
  void mark(const Mark& mark) override { this->emit_mark(mark); }

 private:
  const BadRecords& bad_;
  F f_;
  Collector<U> out_{*this};
};

}  // namespace lp::dataflow
