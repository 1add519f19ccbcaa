#include "nodes/collective/sum_in_rank_order.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace lp {
namespace {

std::vector<float> sum_of(const std::vector<std::vector<float>>& given) {
  std::vector<Array<float>> arrays;
  for (const std::vector<float>& one : given) arrays.push_back(Array<float>::copy_of(one));
  const Array<float> sum = sum_in_rank_order(arrays);
  return {sum.begin(), sum.end()};
}

// In another order 1 + 1 would come first, and the sum would be 2.
TEST(SumInRankOrderTest, AddsRankAfterRank) {
  EXPECT_EQ(sum_of({{1, 1e8F}, {1e8F, 1}, {-1e8F, -1e8F}, {1, 1}}), (std::vector<float>{1, 1}));
  EXPECT_EQ(sum_of({{1e8F}, {-1e8F}, {1}, {1}}), std::vector<float>{2});
}

TEST(SumInRankOrderTest, SumsArraysOfEverySize) {
  for (const std::size_t size : {0U, 1U, 1023U, 1024U, 1025U, 5000U}) {
    const std::vector<float> ones(size, 1);
    EXPECT_EQ(sum_of({ones, ones, ones}), std::vector<float>(size, 3)) << size;
  }
}

TEST(SumInRankOrderTest, TheSumOfOneRankIsItsOwn) { EXPECT_EQ(sum_of({{1, 2, 3}}), (std::vector<float>{1, 2, 3})); }

}  // namespace
}  // namespace lp
