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
  EXPECT_EQ(host.free(), 1U);
  EXPECT_EQ(host.free_text(), "1");
  host.give_back(two);
  EXPECT_EQ(host.take(3), (Positions{1, 2, 3}));
  EXPECT_EQ(host.free(), 0U);
}

TEST(HostGpusTest, ANeedOfNothingTakesNothing) {
  HostGpus none;
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
  host.give_back(first);
  EXPECT_EQ(host.take(1), Positions{1});
  EXPECT_EQ(host.free_text(), "0 (1 is broken)");
  host.break_gpu("GPU-9");  // another host has it
  EXPECT_EQ(host.free_text(), "0 (1 is broken)");
}

}  // namespace
}  // namespace lp::launch
