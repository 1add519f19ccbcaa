#include "nodes/mapreduce/input_locations.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lp/base/error.h"

namespace lp::dataflow {
namespace {

using Workers = std::vector<std::uint32_t>;

TEST(InputPlacesTest, KnowsWhichWorkersHaveAFile) {
  InputLocations locations;
  locations.set(0, {.files = {"/a", "/b"}});
  locations.set(3, {.files = {"/b", "/c"}});
  EXPECT_TRUE(locations.differ());
  EXPECT_EQ(locations.holders("/a"), Workers{0});
  EXPECT_EQ(locations.holders("/b"), (Workers{0, 3}));
  EXPECT_EQ(locations.holders("/d"), Workers{});
  EXPECT_TRUE(locations.has(3, "/c"));
  EXPECT_FALSE(locations.has(1, "/c"));
  EXPECT_FALSE(locations.are_together("/a", "/b"));
  EXPECT_TRUE(locations.are_together("/d", "/e"));
  EXPECT_EQ(locations.all_files({.files = {"/0"}}), (std::vector<std::string>{"/0", "/a", "/b", "/c"}));
  locations.set(3, {.files = {"/a", "/b"}});  // it is on another host now
  EXPECT_FALSE(locations.differ());
}

TEST(InputPlacesTest, APathThatNamesNothingAnywhereIsRefused) {
  InputLocations locations;
  locations.set(0, {.files = {"/a"}, .unmatched = {"/y*", "/x*"}});
  locations.set(1, {.files = {"/x1"}, .unmatched = {"/y*"}});
  EXPECT_EQ(locations.all_files({.unmatched = {"/x*"}}), (std::vector<std::string>{"/a", "/x1"}));
  EXPECT_THROW(locations.all_files({.unmatched = {"/y*"}}), Error);
}

}  // namespace
}  // namespace lp::dataflow
