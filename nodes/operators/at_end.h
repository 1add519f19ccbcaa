#pragma once
// The common part of operators that keep what comes in sorted runs, and make their results of it when the flow has
// ended. Owned by a stage; one thread.

#include <utility>

#include "nodes/operators/sorted_state.h"
#include "nodes/stream/operator.h"

namespace lp::dataflow {

template <class T, class U, class State = SortedState>
class AtEnd : public Operator, public Consumer<T>, public Producer<U> {
 public:
  void mark(const Mark& mark) final {
    if (mark.kind == MarkKind::watermark) return;  // it does not speak about the results
    if (mark.kind == MarkKind::end) {
      make_results();
      this->emit_mark({MarkKind::watermark, kEndOfTime});
    }
    this->emit_mark(mark);
  }
  void cut(std::uint64_t) final { state_.spill(); }
  void save(OperatorState& out) const final { state_.save(out); }
  void load(const StatePiece& piece) final { state_.load(piece); }

 protected:
  template <class... Options>
  explicit AtEnd(StageSite& site, Options... options) : state_(site, options...) {}
  virtual void make_results() = 0;  // when the flow has ended

  State state_;
};

}  // namespace lp::dataflow
