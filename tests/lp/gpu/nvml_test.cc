// NVIDIA's management library through a stand-in that has the same functions.

#include "lp/gpu/nvml.h"

#include <gtest/gtest.h>

#include "tests/error_of.h"
#include "tests/lp/gpu/stand_in.h"

namespace lp::gpu {
namespace {

using test::GpuStandIn;

constexpr const char* kTwo =
    "driver 580.95.05 13000\n"
    "gpu GPU-aa 80000 1000 75 NVIDIA H100 80GB HBM3\n"
    "gpu GPU-bb 40000 2000 5 NVIDIA A100\n";

TEST(NvmlTest, TellsTheDriverAndTheGpusInTheirOrder) {
  const GpuStandIn host(kTwo);
  const Nvml nvml(host.library());
  EXPECT_EQ(nvml.driver(), "580.95.05");
  EXPECT_EQ(nvml.cuda(), 13000);
  EXPECT_EQ(nvml.gpus(), (std::vector<Gpu>{{.uuid = "GPU-aa", .name = "NVIDIA H100 80GB HBM3", .memory = 80000},
                                           {.uuid = "GPU-bb", .name = "NVIDIA A100", .memory = 40000}}));
}

TEST(NvmlTest, TellsWhatAGpuDoesAsLongAsItIsThere) {
  const GpuStandIn host(kTwo);
  const Nvml nvml(host.library());
  const std::optional<GpuUse> use = nvml.use("GPU-aa");
  ASSERT_TRUE(use.has_value());
  EXPECT_EQ(use->memory, 1000U);
  EXPECT_EQ(use->busy, 0.75);
  EXPECT_FALSE(nvml.use("GPU-cc").has_value());
  host.change("driver 580.95.05 13000\ngpu GPU-aa 80000 1000 75 NVIDIA H100\n");
  EXPECT_FALSE(nvml.use("GPU-bb").has_value());
}

TEST(NvmlTest, ADividedGpuStandsThereAsItsParts) {
  const GpuStandIn host(
      "driver 580.95.05 13000\n"
      "gpu GPU-aa 80000 0 0 NVIDIA H100\n"
      "part MIG-1 40000 30\n"
      "part MIG-2 40000 0\n"
      "xid GPU-aa 79\n");
  Nvml nvml(host.library());
  EXPECT_EQ(nvml.gpus(), (std::vector<Gpu>{{.uuid = "MIG-1", .name = "NVIDIA H100", .memory = 40000},
                                           {.uuid = "MIG-2", .name = "NVIDIA H100", .memory = 40000}}));
  const std::optional<GpuUse> use = nvml.use("MIG-1");
  ASSERT_TRUE(use.has_value());
  EXPECT_EQ(use->memory, 30U);
  EXPECT_FALSE(use->busy.has_value());
  EXPECT_EQ(nvml.next_fault()->uuid, "MIG-1");
  EXPECT_EQ(nvml.next_fault()->uuid, "MIG-2");
  EXPECT_FALSE(nvml.next_fault().has_value());
}

TEST(NvmlTest, CountsTheMemoryOfOneProcessAlsoAmongVeryMany) {
  std::string facts = kTwo;
  for (int pid = 1; pid <= 200; ++pid)
    facts += "process GPU-aa " + std::to_string(pid) + " " + std::to_string(pid) + "\n";
  const GpuStandIn host(facts + "process GPU-bb 7 5\n");
  const Nvml nvml(host.library());
  EXPECT_EQ(nvml.memory_of(200, "GPU-aa"), 200U);
  EXPECT_EQ(nvml.memory_of(7, "GPU-bb"), 5U);
  EXPECT_EQ(nvml.memory_of(8, "GPU-bb"), 0U);
  EXPECT_EQ(nvml.memory_of(8, "GPU-cc"), 0U);
}

TEST(NvmlTest, AFaultIsReportedOnceAndTellsWhetherTheDeviceIsBroken) {
  const GpuStandIn host(kTwo);
  Nvml nvml(host.library());
  EXPECT_FALSE(nvml.next_fault().has_value());
  host.change(std::string(kTwo) + "xid GPU-bb 79\nxid GPU-aa 31\n");
  std::optional<GpuFault> fault = nvml.next_fault();
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->uuid, "GPU-bb");
  EXPECT_EQ(fault->xid, 79U);
  EXPECT_TRUE(fault->breaks_device());  // it has fallen off the bus
  fault = nvml.next_fault();
  ASSERT_TRUE(fault.has_value());
  EXPECT_FALSE(fault->breaks_device());  // the program used a wrong address
  EXPECT_FALSE(nvml.next_fault().has_value());
}

TEST(NvmlTest, PeersAreAskedFor) {
  const GpuStandIn host(std::string(kTwo) + "peers GPU-aa GPU-bb\n");
  const Nvml nvml(host.library());
  EXPECT_TRUE(nvml.peers("GPU-aa", "GPU-bb"));
  EXPECT_FALSE(nvml.peers("GPU-bb", "GPU-aa"));
  EXPECT_FALSE(nvml.peers("GPU-aa", "GPU-cc"));
}

TEST(NvmlTest, WithoutADriverOrALibraryTheReasonIsTold) {
  EXPECT_EQ(test::error_of([] { Nvml nvml(GpuStandIn::library()); }), "NVML: nvmlInit: Driver Not Loaded");
  EXPECT_NE(test::error_of([] { Nvml nvml("libnvidia-nothing.so"); }).find("libnvidia-nothing.so"), std::string::npos);
}

}  // namespace
}  // namespace lp::gpu
