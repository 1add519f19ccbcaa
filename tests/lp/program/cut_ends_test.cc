#include "lp/program/cut_ends.h"

#include <gtest/gtest.h>

namespace lp {
namespace {

TEST(CutEndsTest, AWaitEndsWithTheCutOrALaterOne) {
  CutEnds ends;
  Future<bool> first = ends.end_of(1);
  Future<bool> second = ends.end_of(2);
  Future<bool> third = ends.end_of(3);
  ends.end(2, /*complete=*/true);
  EXPECT_TRUE(first.get());
  EXPECT_TRUE(second.get());
  EXPECT_FALSE(third.ready());
  EXPECT_TRUE(ends.end_of(1).get());
}

TEST(CutEndsTest, ACutThatIsGivenUpEndsNoOther) {
  CutEnds ends;
  Future<bool> first = ends.end_of(1);
  Future<bool> second = ends.end_of(2);
  ends.end(2, /*complete=*/false);
  EXPECT_FALSE(second.get());
  EXPECT_FALSE(ends.end_of(2).get());
  EXPECT_FALSE(first.ready());
  ends.end(3, /*complete=*/true);
  EXPECT_TRUE(first.get());
  EXPECT_TRUE(ends.end_of(2).get()) << "its effect is in the cut 3";
}

}  // namespace
}  // namespace lp
