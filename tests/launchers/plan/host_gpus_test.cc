// Which process gets which GPU of a host, with invented hosts.

#include "launchers/plan/host_gpus.h"

#include <gtest/gtest.h>

namespace lp::launch {
namespace {

using Positions = std::vector<std::size_t>;

HostGpus invented(int count) {
  std::vector<gpu::Gpu> gpus;
  for (int i = 0; i < count; ++i) gpus.push_back({.uuid = "GPU-" + std::to_string(i)});
  return HostGpus(std::move(gpus));
}

TEST(HostGpusTest, AGpuBelongsToOneProcessUntilThatGivesItBack) {
  HostGpus host = invented(4);
  EXPECT_EQ(host.take(1), Positions{0});
  const Positions two = host.take(2);
  EXPECT_EQ(two, (Positions{1, 2}));
  EXPECT_EQ(host.at(two[1]).uuid, "GPU-2");
  EXPECT_EQ(host.free_text(), "1");
  EXPECT_FALSE(host.fits(2));
  host.give_back(two, 2);
  EXPECT_TRUE(host.fits(3));
  EXPECT_EQ(host.take(3), (Positions{1, 2, 3}));
  EXPECT_EQ(host.free_text(), "0");
}

TEST(HostGpusTest, PartsShareAGpuUpToItsWhole) {
  HostGpus host = invented(2);
  EXPECT_EQ(host.take(0.5), Positions{0});
  EXPECT_EQ(host.take(0.25), Positions{0});
  EXPECT_EQ(host.free_text(), "1 (and 0.25 of shared ones)");
  EXPECT_EQ(host.take(0.4), Positions{1});
  EXPECT_FALSE(host.fits(1));
  EXPECT_FALSE(host.fits(0.7));
  EXPECT_EQ(host.take(0.2), Positions{0});  // where the least room is enough
  EXPECT_EQ(host.free_text(), "0 (and 0.05, 0.6 of shared ones)");
  host.give_back({1}, 0.4);
  EXPECT_EQ(host.take(1), Positions{1});
  EXPECT_FALSE(host.fits(0.1));
}

TEST(HostGpusTest, TenTenthsAreAWholeAndComeBackAsOne) {
  HostGpus host = invented(1);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(host.fits(0.1)) << i;
    host.take(0.1);
  }
  EXPECT_EQ(host.free_text(), "0");
  EXPECT_FALSE(host.fits(0.001));
  for (int i = 0; i < 10; ++i) host.give_back({0}, 0.1);
  EXPECT_EQ(host.free_text(), "1");
  EXPECT_TRUE(host.fits(1));
}

TEST(HostGpusTest, ANeedOfNothingTakesNothing) {
  HostGpus none;
  EXPECT_TRUE(none.fits(0));
  EXPECT_FALSE(none.fits(0.1));
  EXPECT_EQ(none.take(0), Positions{});
  EXPECT_EQ(none.free_text(), "0");
  EXPECT_FALSE(none.broken({}));
}

TEST(HostGpusTest, ABrokenGpuIsAssignedNoMoreAlsoWhenItComesBack) {
  HostGpus host = invented(2);
  const Positions first = host.take(1);
  EXPECT_FALSE(host.broken(first));
  host.break_gpu("GPU-0");
  EXPECT_TRUE(host.broken(first));
  EXPECT_EQ(host.free_text(), "1 (1 is broken)");
  host.give_back(first, 1);
  EXPECT_EQ(host.take(1), Positions{1});
  EXPECT_EQ(host.free_text(), "0 (1 is broken)");
  EXPECT_FALSE(host.fits(0.5));
  host.break_gpu("GPU-9");  // another host has it
  EXPECT_EQ(host.free_text(), "0 (1 is broken)");
}

}  // namespace
}  // namespace lp::launch
