// Calls by number, on the side that assigns the numbers and on the other.

#include "lp/rpc/core/call_slots.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace lp::rpc {
namespace {

TEST(CallSlotsTest, NumbersGrowAndPlacesAreUsedAgain) {
  CallSlots<int*> slots;
  std::vector<int> calls(100);
  std::uint64_t last = 0;
  for (int round = 0; round < 10; ++round) {
    for (int& call : calls) {
      const std::uint64_t number = slots.add(&call);
      EXPECT_GT(number, last);
      last = number;
      if (round % 2 == 0) {
        EXPECT_EQ(*slots.find(number), &call);
        EXPECT_EQ(slots.take(number), &call);
        EXPECT_EQ(slots.find(number), nullptr);
        EXPECT_EQ(slots.take(number), nullptr);
      }
    }
  }
  EXPECT_EQ(slots.size(), 500u);
  EXPECT_LT(last % CallSlots<int*>::kLimit, 500u);
}

TEST(CallSlotsTest, WhileCallsEndInOrderTheNextOneStandsBehind) {
  CallSlots<int*> slots;
  std::vector<int> calls(1000);
  std::vector<std::uint64_t> numbers;
  for (std::size_t i = 0; i < 10; ++i) numbers.push_back(slots.add(&calls[i]));
  EXPECT_EQ(slots.ahead(numbers[7], 3), nullptr) << "there is no such place";
  for (std::size_t i = 0; i + 10 < calls.size(); ++i) {
    if (i % 10 < 7) {
      ASSERT_EQ(*slots.ahead(numbers[i], 3), &calls[i + 3]);
    }
    ASSERT_EQ(slots.take(numbers[i]), &calls[i]);
    EXPECT_EQ(slots.ahead(numbers[i], 0), nullptr);
    numbers.push_back(slots.add(&calls[i + 10]));
  }
}

TEST(CallSlotsTest, AnOldNumberFindsNothing) {
  CallSlots<int*> slots;
  int one = 0, two = 0;
  const std::uint64_t first = slots.add(&one);
  slots.take(first);
  const std::uint64_t second = slots.add(&two);
  EXPECT_EQ(slots.find(first), nullptr);
  EXPECT_EQ(slots.find(first + 1), nullptr);
  EXPECT_EQ(slots.find(~std::uint64_t{0}), nullptr);
  EXPECT_EQ(*slots.find(second), &two);
}

TEST(CallSlotsTest, TheOtherSideKeepsThemUnderTheSameNumbers) {
  CallSlots<std::unique_ptr<int>> slots;
  const std::uint64_t number = 3 * CallSlots<int*>::kLimit + 7;
  EXPECT_EQ(slots.put(number, std::make_unique<int>(1)), nullptr);
  const std::unique_ptr<int> replaced = slots.put(number + CallSlots<int*>::kLimit, std::make_unique<int>(2));
  EXPECT_EQ(*replaced, 1) << "who calls has given the place to another call";
  EXPECT_EQ(slots.size(), 1u);
  EXPECT_EQ(slots.take(number), nullptr);
  EXPECT_EQ(*slots.take(number + CallSlots<int*>::kLimit), 2);
  EXPECT_EQ(slots.size(), 0u);
}

TEST(CallSlotsTest, TakenByAPredicateTheOldestFirst) {
  CallSlots<int*> slots;
  std::vector<int> calls{0, 1, 2, 3, 4, 5};
  std::vector<std::uint64_t> numbers;
  for (int& call : calls) numbers.push_back(slots.add(&call));
  slots.take(numbers[0]);
  int late = 7;
  slots.add(&late);  // in the place of the first
  std::vector<int> taken;
  for (const int* call : slots.take_if([](const int* one) { return *one % 2 == 1; })) taken.push_back(*call);
  EXPECT_EQ(taken, (std::vector<int>{1, 3, 5, 7}));
  EXPECT_EQ(slots.size(), 2u);
}

}  // namespace
}  // namespace lp::rpc
