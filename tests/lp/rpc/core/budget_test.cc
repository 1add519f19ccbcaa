// The bytes of calls that wait are bounded for each service and for the whole process.
#include "lp/rpc/core/budget.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace lp::rpc {
namespace {

TEST(BudgetTest, BoundsEachServiceAndTheProcess) {
  Budget budget(/*each=*/100, /*all=*/150);
  Budget::Account one;
  Budget::Account two;
  Budget::Share first = budget.take(one, 60);
  EXPECT_TRUE(first);
  EXPECT_FALSE(budget.take(one, 41)) << "too much for the service";
  const Budget::Share second = budget.take(two, 80);
  EXPECT_TRUE(second);
  EXPECT_FALSE(budget.take(two, 20)) << "too much for the process";
  EXPECT_TRUE(budget.take(two, 10));  // and given back at once
  EXPECT_EQ(budget.used(), 140U);

  Budget::Share third;
  budget.ask(two, 20, [&](Budget::Share share) { third = std::move(share); });
  EXPECT_FALSE(third);
  first.give_back();
  EXPECT_TRUE(third);
  EXPECT_EQ(budget.used(), 100U);
}

TEST(BudgetTest, OneCallPassesHoweverLargeItIsWhenNothingElseIsThere) {
  Budget budget(/*each=*/100, /*all=*/150);
  Budget::Account one;
  Budget::Account two;
  Budget::Share large = budget.take(one, 1000);
  EXPECT_TRUE(large);
  EXPECT_FALSE(budget.take(one, 1));
  EXPECT_FALSE(budget.take(two, 1));
  large.give_back();
  const Budget::Share other = budget.take(two, 1);
  EXPECT_FALSE(budget.take(one, 1000));
}

TEST(BudgetTest, RequestsOfAServiceGetRoomInTheirOrderAndHoldUpNoOtherService) {
  Budget budget(/*each=*/100, /*all=*/200);
  Budget::Account one;
  Budget::Account two;
  Budget::Share first = budget.take(one, 100);
  std::vector<int> order;
  std::vector<Budget::Share> shares;
  const auto ask = [&](Budget::Account& account, std::size_t bytes, int number) {
    budget.ask(account, bytes, [&, number](Budget::Share share) {
      order.push_back(number);
      shares.push_back(std::move(share));
    });
  };
  ask(one, 90, 1);
  ask(one, 20, 2);
  ask(two, 50, 3);
  EXPECT_EQ(order, (std::vector<int>{3}));
  EXPECT_FALSE(budget.take(one, 1)) << "others have asked before";
  first.give_back();
  EXPECT_EQ(order, (std::vector<int>{3, 1})) << "there is no room for number 2 yet";
  shares.back().give_back();
  EXPECT_EQ(order, (std::vector<int>{3, 1, 2}));
}

}  // namespace
}  // namespace lp::rpc
