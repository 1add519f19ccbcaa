// Both outputs of an operator as one.

#include "nodes/operators/with_late.h"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

namespace lp::dataflow {
namespace {

class BothOutputs final : public Operator, public Producer<int>, public LateEvents<std::string> {
 public:
  void give(const std::vector<int>& records) { this->emit(records); }
  void give_late(const std::vector<std::string>& events) { this->emit_late(events); }
  void mark(EventTime watermark) {
    this->emit_mark({MarkKind::watermark, watermark});
    this->emit_late_mark({MarkKind::watermark, watermark});
  }
};

class Written final : public Consumer<Either<int, std::string>> {
 public:
  void take(std::span<const Either<int, std::string>> records) override {
    for (const auto& one : records) text += (one.left ? std::to_string(*one.left) : *one.right) + " ";
  }
  void mark(const Mark& mark) override { text += "<" + std::to_string(mark.value) + "> "; }
  std::string text{};
};

TEST(WithLateTest, RecordsLateEventsAndMarksKeepTheirOrder) {
  BothOutputs parent;
  WithLate<int, std::string> both;
  WithLate<int, std::string>::connect(parent, both);
  Written written;
  both.add(written);
  parent.give({1, 2});
  parent.mark(10);
  parent.give_late({"late", "later"});
  parent.give({3});
  parent.give_late({"last"});
  parent.mark(20);
  EXPECT_EQ(written.text, "1 2 <10> late later 3 last <20> ");
}

}  // namespace
}  // namespace lp::dataflow
