#include "nodes/mapreduce/input_places.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lp/base/error.h"

namespace lp::dataflow {
namespace {

using Workers = std::vector<std::uint32_t>;

TEST(InputPlacesTest, KnowsWhichWorkersHaveAFile) {
  InputPlaces places;
  places.set(0, {.files = {"/a", "/b"}});
  places.set(3, {.files = {"/b", "/c"}});
  EXPECT_TRUE(places.differ());
  EXPECT_EQ(places.holders("/a"), Workers{0});
  EXPECT_EQ(places.holders("/b"), (Workers{0, 3}));
  EXPECT_EQ(places.holders("/d"), Workers{});
  EXPECT_TRUE(places.has(3, "/c"));
  EXPECT_FALSE(places.has(1, "/c"));
  EXPECT_FALSE(places.are_together("/a", "/b"));
  EXPECT_TRUE(places.are_together("/d", "/e"));
  EXPECT_EQ(places.all_files({.files = {"/0"}}), (std::vector<std::string>{"/0", "/a", "/b", "/c"}));
  places.set(3, {.files = {"/a", "/b"}});  // it is on another host now
  EXPECT_FALSE(places.differ());
}

TEST(InputPlacesTest, APathThatNamesNothingAnywhereIsRefused) {
  InputPlaces places;
  places.set(0, {.files = {"/a"}, .unmatched = {"/y*", "/x*"}});
  places.set(1, {.files = {"/x1"}, .unmatched = {"/y*"}});
  EXPECT_EQ(places.all_files({.unmatched = {"/x*"}}), (std::vector<std::string>{"/a", "/x1"}));
  EXPECT_THROW(places.all_files({.unmatched = {"/y*"}}), Error);
}

}  // namespace
}  // namespace lp::dataflow
