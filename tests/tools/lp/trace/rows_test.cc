// Spans of a thread are put into rows in which viewers can nest them.

#include "tools/lp/trace/rows.h"

#include <gtest/gtest.h>

namespace lp::tool {
namespace {

Slice slice(std::uint64_t id, std::uint64_t parent, int begin, int end) {
  return {.number = id, .id = id, .parent = parent, .begin = Time(Duration(begin)), .end = Time(Duration(end))};
}

std::size_t row_of(const std::vector<Slice>& slices, std::uint64_t id) {
  for (const Slice& one : slices) {
    if (one.id == id) return one.row;
  }
  return 99;
}

TEST(Rows, ChildrenAndSuccessorsShareTheRow) {
  std::vector<Slice> slices = {slice(3, 2, 12, 15), slice(2, 1, 10, 20), slice(1, 0, 0, 30), slice(4, 0, 30, 40)};
  put_into_rows(slices);
  for (const Slice& one : slices) EXPECT_EQ(one.row, 0U) << one.id;
  EXPECT_EQ(slices.front().id, 1U);
}

TEST(Rows, CallsThatAreMadeAtTheSameTimeDoNot) {
  std::vector<Slice> slices = {slice(1, 0, 0, 100), slice(2, 1, 10, 60), slice(3, 1, 11, 50), slice(4, 1, 12, 70),
                               slice(5, 1, 55, 60)};
  put_into_rows(slices);
  EXPECT_EQ(row_of(slices, 1), 0U);
  EXPECT_EQ(row_of(slices, 2), 0U);
  EXPECT_EQ(row_of(slices, 3), 1U);
  EXPECT_EQ(row_of(slices, 4), 2U);
  EXPECT_EQ(row_of(slices, 5), 1U);  // behind 3
}

TEST(Rows, AChildThatEndsLaterThanItsParentGetsAnother) {
  std::vector<Slice> slices = {slice(1, 0, 0, 10), slice(2, 1, 5, 20)};
  put_into_rows(slices);
  EXPECT_EQ(row_of(slices, 2), 1U);
}

}  // namespace
}  // namespace lp::tool
