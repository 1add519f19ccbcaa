#include "launchers/os/process_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "lp/base/array.h"
#include "lp/base/shared_heap.h"
#include "tests/directory.h"

namespace lp::internal {
namespace {

TEST(Memory, OfAContainerIsTheLeastThatItOrAGroupAroundItAllows) {
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

TEST(Memory, OfAProcessIsAlsoWhatItSharesOfItsOwn) {
  SharedHeap::use();
  const std::uint64_t before = own_memory_of(getpid());
  const Buffer buffer = Buffer::zeroed(std::size_t{64} << 20);
  EXPECT_GE(own_memory_of(getpid()), before + buffer.size());
#if !defined(__SANITIZE_THREAD__)  // which keeps several bytes for each
  EXPECT_LT(own_memory_of(getpid()), before + 2 * buffer.size());
#endif
}

TEST(Memory, ThereIsSomeHere) {
  EXPECT_GT(memory_here(), 0u);
  EXPECT_LT(memory_here(), kNoLimit);
}

}  // namespace
}  // namespace lp::internal
