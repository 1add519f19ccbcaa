#include "lp/base/memory_limit.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/directory.h"

namespace lp::internal {
namespace {

TEST(MemoryLimit, OfAContainerIsTheLeastThatItOrAGroupAroundItAllows) {
  const test::Directory groups;
  const auto limit = [&](const std::string& group) { return memory_limit_of(groups.path(), group); };
  const auto set = [&](const std::string& group, const std::string& text) {
    std::filesystem::create_directories(groups.path() / group);
    std::ofstream(groups.path() / group / "memory.max") << text << "\n";
  };
  EXPECT_EQ(limit("/"), kNoLimit);
  EXPECT_EQ(limit(""), kNoLimit);
  set("a/b", "1000000");
  EXPECT_EQ(limit("/a/b"), 1'000'000u);
  EXPECT_EQ(limit("/a/b/c"), 1'000'000u);
  EXPECT_EQ(limit("/a"), kNoLimit);
  set("a", "max");
  EXPECT_EQ(limit("/a/b"), 1'000'000u);
  set(".", "5000");  // as a container sees its own group
  EXPECT_EQ(limit("/a/b"), 5000u);
  EXPECT_EQ(limit("/"), 5000u);
}

TEST(MemoryLimit, ThereIsSomeHere) {
  EXPECT_GT(memory_here(), 0u);
  EXPECT_LT(memory_here(), kNoLimit);
}

}  // namespace
}  // namespace lp::internal
