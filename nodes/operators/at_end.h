#pragma once
// The common part of operators that keep what comes in sorted runs, and make their results of it when the flow has
// ended. Owned by a stage; one thread.

#include <string>
#include <utility>

#include "nodes/dataflow/groups.h"
#include "nodes/dataflow/key_codec.h"
#include "nodes/operators/sorted_state.h"
#include "nodes/stream/operator.h"
#include "nodes/stream/stage_plan.h"

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

// Names the records on which a function has failed, for people.
template <Key K>
std::string records_of_key(const K& key) {
  return "the records of " + key_name(key);
}

// The same for results that are made of all records of a key, in the order of the keys.
template <class K, class T, class U>
class AtEndByKey : public AtEnd<T, U> {
 protected:
  using AtEnd<T, U>::AtEnd;
  // Makes that of the present key, and hands it on.
  virtual void make_result(Groups& groups) = 0;

 private:
  void make_results() final {
    Groups groups = this->state_.groups();
    while (groups.next()) {
      if (!this->state_.owns(groups.key())) continue;
      try {
        make_result(groups);
      } catch (...) {
        const std::string key(groups.key());
        fail_at({.location = records_of_key(key_of<K>(key))}, [&] { make_result_again(key); });
      }
    }
  }
  void make_result_again(const std::string& key) {
    Groups groups = this->state_.groups();
    while (groups.next()) {
      if (groups.key() == key) return make_result(groups);
    }
  }
};

}  // namespace lp::dataflow
