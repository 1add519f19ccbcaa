#pragma once
// The second output of an operator that looks at times: events that came too late, or from the future. Owned by a
// stage; one thread.

#include <span>
#include <vector>

#include "nodes/stream/operator.h"

namespace lp::dataflow {

template <class T>
class LateEvents {
 public:
  void add_late(Consumer<T>& consumer) { consumers_.push_back(&consumer); }

 protected:
  ~LateEvents() = default;
  void emit_late(std::span<const T> records) {
    for (Consumer<T>* const one : consumers_) one->take(records);
  }
  void emit_late_mark(const Mark& mark) {
    for (Consumer<T>* const one : consumers_) one->mark(mark);
  }

 private:
  std::vector<Consumer<T>*> consumers_{};
};

}  // namespace lp::dataflow
