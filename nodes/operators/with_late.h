#pragma once
// Both outputs of an operator as one, in the order in which it has made them. Two ways to another stage have no common
// order: there, a late event could overtake the watermark behind which it was late. Owned by a stage; one thread.

#include <span>

#include "nodes/operators/group.h"
#include "nodes/operators/late_events.h"
#include "nodes/stream/operator.h"

namespace lp::dataflow {

template <class T, class Late>
class WithLate final : public Operator, public Producer<Either<T, Late>> {
 public:
  // Puts one of these behind an operator with both outputs.
  static void connect(Operator& parent, Operator& self) {
    auto& both = dynamic_cast<WithLate&>(self);
    dynamic_cast<Producer<T>&>(parent).add(both.records_);
    dynamic_cast<LateEvents<Late>&>(parent).add_late(both.late_);
  }

 private:
  struct Records final : Consumer<T> {
    explicit Records(WithLate& both) : to(both) {}
    void take(std::span<const T> records) override {
      for (const T& one : records) to.out_({.left = one});
      to.out_.flush();
    }
    void mark(const Mark&) override {}  // the late events bring it, too, and later
    WithLate& to;
  };
  struct Events final : Consumer<Late> {
    explicit Events(WithLate& both) : to(both) {}
    void take(std::span<const Late> events) override {
      for (const Late& one : events) to.out_({.right = one});
      to.out_.flush();
    }
    void mark(const Mark& mark) override { to.emit_mark(mark); }
    WithLate& to;
  };

  Collector<Either<T, Late>> out_{*this};
  Records records_{*this};
  Events late_{*this};
};

}  // namespace lp::dataflow
