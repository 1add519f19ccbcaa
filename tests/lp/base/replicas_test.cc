#include "lp/base/replicas.h"

#include <gtest/gtest.h>

namespace lp {
namespace {

TEST(Replicas, ANumberOrARangeIsReadAndPrinted) {
  EXPECT_EQ(read_replicas("4"), Replicas(4));
  EXPECT_EQ(read_replicas("2..8"), Replicas(2, 8));
  EXPECT_EQ(read_replicas("3..3"), Replicas(3));
  for (const char* text : {"1", "12", "1..2", "2..100"}) {
    const auto read = read_replicas(text);
    ASSERT_TRUE(read.has_value()) << text;
    EXPECT_EQ(to_string(*read), text);
  }
  EXPECT_TRUE(Replicas(1, 2).elastic());
  EXPECT_FALSE(Replicas(2).elastic());
}

TEST(Replicas, WhatIsNoneIsNotRead) {
  for (const char* text : {"", "x", "8..2", "0..3", "0", "-1", "2..", "..2", "2...8", "2..8..9", "2.8", " 2", "2 ..8",
                           "02", "2..x", "99999999999"}) {
    EXPECT_FALSE(read_replicas(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace lp
