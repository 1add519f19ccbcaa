#include "lp/gpu/memory_limit.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "tests/error_of.h"
#include "tests/lp/gpu/stand_in.h"

namespace lp::gpu {
namespace {

constexpr std::uint64_t kPart = 8000;  // 1000 of them are for libraries
constexpr const char* kOneGpu = "driver 580.95.05 13000\ngpu GPU-aa 80000 0 0 NVIDIA H100\n";

class MemoryLimitTest : public testing::Test {
 protected:
  ~MemoryLimitTest() override { unsetenv(MemoryLimit::kVariable); }
  static void share(const std::string& bytes) { setenv(MemoryLimit::kVariable, bytes.c_str(), 1); }
};

TEST_F(MemoryLimitTest, AProcessThatHasItsGpuAloneMayTakeAll) {
  const MemoryLimit limit = MemoryLimit::here("GPU-aa");
  EXPECT_FALSE(limit.limits());
  EXPECT_TRUE(limit.allows(UINT64_MAX, UINT64_MAX));
}

TEST_F(MemoryLimitTest, APartHasRoomForLibraries) {
  share(std::to_string(kPart));
  const MemoryLimit limit = MemoryLimit::here("GPU-aa");
  EXPECT_TRUE(limit.limits());
  EXPECT_TRUE(limit.allows(0, 7000));
  EXPECT_FALSE(limit.allows(0, 7001));
  EXPECT_TRUE(limit.allows(6000, 1000));
  EXPECT_FALSE(limit.allows(6000, 1001));
  EXPECT_FALSE(limit.allows(7001, 0));
  EXPECT_FALSE(limit.allows(6000, UINT64_MAX));
  EXPECT_EQ(limit.text(), "its part of GPU-aa is 7.8K");
  share(std::to_string(std::uint64_t{20} << 30));
  const MemoryLimit large = MemoryLimit::here("GPU-aa");
  EXPECT_TRUE(large.allows(std::uint64_t{19} << 30, (std::uint64_t{1} << 30) - MemoryLimit::kForLibraries));
  EXPECT_FALSE(large.allows(std::uint64_t{19} << 30, (std::uint64_t{1} << 30) - MemoryLimit::kForLibraries + 1));
}

TEST_F(MemoryLimitTest, WhatTheDriverCountsForTheProcessCountsToo) {
  share(std::to_string(kPart));
  const auto facts = [](int pid, int bytes) {
    return std::string(kOneGpu) + "process GPU-aa " + std::to_string(pid) + " " + std::to_string(bytes) + "\n";
  };
  const test::GpuStandIn host(facts(getpid() + 1, 60'000));
  const MemoryLimit limit = MemoryLimit::here("GPU-aa", test::GpuStandIn::library());
  EXPECT_TRUE(limit.allows(5000, 2000));
  host.change(facts(getpid(), 5500));
  EXPECT_FALSE(limit.allows(5000, 2000));
  EXPECT_TRUE(limit.allows(5000, 1500));
  EXPECT_FALSE(limit.allows(6000, 1500));
}

TEST_F(MemoryLimitTest, ANumberOfBytesIsWanted) {
  for (const char* const wrong : {"", "0", "2G", "-1", " 5"}) {
    share(wrong);
    EXPECT_EQ(
        test::error_of([] { MemoryLimit::here("GPU-aa"); }),
        "LP_GPU_MEMORY is \"" + std::string(wrong) + "\": it is a number of bytes, of which there is one or more");
  }
}

}  // namespace
}  // namespace lp::gpu
