// The share of each node in its host: GPUs, cores, threads, memory.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "launchers/os/spawn.h"
#include "tests/launchers/main_fixture.h"
#include "tests/launchers/watched.h"
#include "tests/lp/gpu/stand_in.h"

namespace lp::test {
namespace {

// This process sees these GPUs, and so do the programs that it starts.
class VisibleGpus {
 public:
  explicit VisibleGpus(const char* names) {
    if (const char* before = std::getenv(kName); before != nullptr) before_ = before;
    setenv(kName, names, 1);
  }
  ~VisibleGpus() { before_.has_value() ? setenv(kName, before_->c_str(), 1) : unsetenv(kName); }
  VisibleGpus(const VisibleGpus&) = delete;
  VisibleGpus& operator=(const VisibleGpus&) = delete;

 private:
  static constexpr const char* kName = "CUDA_VISIBLE_DEVICES";
  std::optional<std::string> before_;
};

// A host with three GPUs.
const std::string kThreeGpus =
    "driver 580.95.05 13000\n"
    "gpu GPU-aa 85899345920 0 0 NVIDIA H100\n"
    "gpu GPU-bb 85899345920 0 0 NVIDIA H100\n"
    "gpu GPU-cc 85899345920 0 0 NVIDIA H100\n";

TEST_F(MainTest, EachNodeSeesItsOwnGpusOnly) {
  const GpuStandIn host(kThreeGpus + "gpu GPU-dd 85899345920 0 0 NVIDIA H100\n");
  const VisibleGpus gpus("3,0,GPU-b,2");
  Subprocess program(arguments({with_processes(), "--mode=says where it is",
                                configuration("groups:\n"
                                              "  worker:\n"
                                              "    gpus: 2\n")}));
  EXPECT_EQ(program.wait().code, 0) << program.err();
  EXPECT_TRUE(has(program.err(), "worker/0 | gpus GPU-dd,GPU-aa, ")) << program.err();
  EXPECT_TRUE(has(program.err(), "worker/1 | gpus GPU-bb,GPU-cc, ")) << program.err();
}

TEST_F(MainTest, GpusAreNamedByUuidAndHiddenFromNodesThatAskForNone) {
  const GpuStandIn host(kThreeGpus);
  const VisibleGpus gpus("2,0,1");
  Subprocess program(arguments(
      {with_processes(), "--mode=says where it is", "--workers=2", configuration("groups: {worker: {gpus: 1}}\n")}));
  EXPECT_EQ(program.wait().code, 0) << program.err();
  EXPECT_TRUE(has(program.err(), "worker/0 | gpus GPU-cc, ")) << program.err();
  EXPECT_TRUE(has(program.err(), "worker/1 | gpus GPU-aa, ")) << program.err();
  Subprocess other(
      arguments({with_processes(), "--mode=says where it is", configuration("groups: {counter: {gpus: 1}}\n")}));
  EXPECT_EQ(other.wait().code, 0) << other.err();
  EXPECT_TRUE(has(other.err(), "worker/0 | gpus , ")) << other.err();
}

TEST_F(MainTest, AGpuThatFailsIsTheCauseAndTheRestartAvoidsIt) {
  const GpuStandIn host(kThreeGpus);
  Subprocess program(arguments({with_processes(), "--mode=says where it is", "--steps=1000000000", "--workers=2",
                                "--restart", configuration("groups: {worker: {gpus: 1}}\n")}));
  ASSERT_TRUE(program.read_until("worker/0 | gpus GPU-aa, ")) << program.err();
  ASSERT_TRUE(program.read_until("worker/1 | gpus GPU-bb, ")) << program.err();
  host.change(kThreeGpus + "xid GPU-bb 31\nxid GPU-bb 79\n");
  const std::string cause = "its GPU GPU-bb (NVIDIA H100) has failed: the driver reported Xid 79";
  EXPECT_TRUE(program.read_until("was killed by its agent: " + cause)) << program.err();
  EXPECT_TRUE(program.read_until("worker/1 | gpus GPU-cc, ")) << program.err();
  host.change(kThreeGpus + "xid GPU-bb 31\nxid GPU-bb 79\nxid GPU-aa 48\n");
  EXPECT_EQ(program.wait().code, 1);
  EXPECT_TRUE(has(program.err(), "worker/0 needs 1 gpus, 0 of memory, and localhost has 0 (2 are broken) gpus, "))
      << program.err();
}

TEST_F(MainTest, GpusThatOnlyTheVariableNamesAreNone) {
  const VisibleGpus gpus("0,1,2,3");
  const auto refusal = [this] {
    Subprocess program(arguments({with_processes(), configuration("groups:\n  worker:\n    gpus: 2\n")}));
    EXPECT_EQ(program.wait().code, 2);
    return program.err();
  };
  const std::string sum =
      "the host has 0 gpus, but the program needs 4 (worker: 2 x 2): CUDA_VISIBLE_DEVICES names 0,1,2,3, but ";
  if (access("/dev/nvidiactl", F_OK) != 0) {  // on a host with a driver, the rest is what can be tested
    const std::string text = refusal();
    EXPECT_TRUE(has(text, sum + "this host has no NVIDIA driver")) << text;
  }
  const GpuStandIn host("driver 580.95.05 13000\n");
  const std::string text = refusal();
  EXPECT_TRUE(has(text, sum + "no GPU of this host has such a number or UUID")) << text;
}

TEST_F(MainTest, MoreGpusThanThereAreAreRefusedWithTheSum) {
  const GpuStandIn host(kThreeGpus);
  Subprocess program(arguments({with_processes(), configuration("groups:\n  worker:\n    gpus: 2\n")}));
  EXPECT_EQ(program.wait().code, 2);
  EXPECT_TRUE(has(program.err(), "the host has 3 gpus, but the program needs 4 (")) << program.err();
}

TEST_F(MainTest, NodesShareAGpuOfWhichTheyAskForParts) {
  const GpuStandIn host(kThreeGpus);
  Subprocess program(arguments({with_processes(), "--mode=says where it is", "--workers=4",
                                configuration("groups: {counter: {gpus: 1}, worker: {gpus: 0.5}}\n")}));
  EXPECT_EQ(program.wait().code, 0) << program.err();
  for (const std::string place : {"worker/0 | gpus GPU-bb, ", "worker/1 | gpus GPU-bb, ", "worker/2 | gpus GPU-cc, ",
                                  "worker/3 | gpus GPU-cc, "}) {
    EXPECT_TRUE(has(program.err(), place)) << program.err();
  }
  Subprocess more(arguments({with_processes(), "--workers=3", configuration("groups: {worker: {gpus: 0.9}}\n")}));
  EXPECT_EQ(more.wait().code, 0) << more.err();
  Subprocess most(arguments(
      {with_processes(), "--workers=3", configuration("groups: {counter: {gpus: 0.2}, worker: {gpus: 0.9}}\n")}));
  EXPECT_EQ(most.wait().code, 2);
  EXPECT_TRUE(has(most.err(),
                  "worker/2 needs 0.9 gpus, 0 of memory, and localhost has 0 (and 0.8, 0.1, 0.1 of shared "
                  "ones) gpus, "))
      << most.err();
}

TEST_F(MainTest, ANodeThatUsesMoreThanItsPartOfAGpuEnds) {
  const std::string gpu = "GPU-" + std::to_string(getpid());
  const std::string facts = "driver 580.95.05 13000\ngpu " + gpu + " 85899345920 0 0 NVIDIA H100\n";
  const GpuStandIn host(facts);
  Subprocess program(arguments({with_processes(), "--mode=says where it is", "--steps=1000000000", "--workers=2",
                                configuration("groups: {worker: {gpus: 0.5}}\n")}));
  ASSERT_TRUE(program.read_until("worker/0 | gpus " + gpu)) << program.err();
  ASSERT_TRUE(program.read_until("worker/1 | gpus " + gpu)) << program.err();
  const std::vector<int> processes = marked("CUDA_VISIBLE_DEVICES=" + gpu);
  ASSERT_EQ(processes.size(), 2U);
  for (const int process : processes) {  // so that a call which wants more fails before that
    EXPECT_TRUE(launch::has_mark(process, "LP_GPU_MEMORY=42949672960"));
  }
  const auto uses = [&](int process, std::uint64_t gibibytes) {
    return "process " + gpu + " " + std::to_string(process) + " " + std::to_string(gibibytes << 30) + "\n";
  };
  host.change(facts + uses(processes[0], 40) + uses(processes[1], 41));
  EXPECT_EQ(program.wait().code, 1);
  EXPECT_TRUE(has(program.err(), " was killed by its agent: it used 41G of the memory of GPU " + gpu +
                                     " (NVIDIA H100), and its part is 40G"))
      << program.err();
}

TEST_F(MainTest, WhereAProcessHasWholeGpusOnlyAPartIsRefused) {
  const std::string file = configuration("groups: {worker: {gpus: 0.5}}\n");
  for (const auto& [engine, more] : {std::pair("kubernetes", "--image=none"), std::pair("slurm", "--slurm=--time=1")}) {
    Subprocess program(arguments({"--launch=" + std::string(engine), more, "--dry-run", file}));
    EXPECT_EQ(program.wait().code, 2);
    EXPECT_TRUE(has(program.err(), "the process of worker/0 asks for 0.5 gpus, and the engine " + std::string(engine) +
                                       " gives whole GPUs only: ask for 1, or "))
        << program.err();
  }
}

TEST_F(MainTest, APinnedNodeHasCoresOfItsOwn) {
  const std::string file = configuration("workers: 1\ngroups:\n  worker:\n    cpus: 1\n");
  Subprocess program(arguments({with_processes(), "--pin", "--mode=says where it is", file}));
  EXPECT_EQ(program.wait().code, 0) << program.err();
  EXPECT_TRUE(has(program.err(), ", cores 1, threads 1\n")) << program.err();
}

TEST_F(MainTest, MoreCoresThanThereAreCannotBePinned) {
  Subprocess program(arguments({with_processes(), "--pin", configuration("groups:\n  worker:\n    cpus: 4096\n")}));
  EXPECT_EQ(program.wait().code, 2);
  EXPECT_TRUE(has(program.err(), " cpus, but the program needs 8192 (")) << program.err();
}

TEST_F(MainTest, ANodeComputesWithOneThreadUnlessItsCpusSayMore) {
  for (const auto& [cpus, threads] : {std::pair("0.5", "1"), std::pair("3", "3")}) {
    Subprocess program(arguments({with_processes(), "--mode=says where it is",
                                  configuration("groups:\n  worker:\n    cpus: " + std::string(cpus) + "\n")}));
    EXPECT_EQ(program.wait().code, 0) << program.err();
    EXPECT_TRUE(has(program.err(), std::string(", threads ") + threads + "\n")) << program.err();
  }
}

TEST_F(MainTest, ADryRunShowsWhichNodeGoesToWhichHost) {
  const auto on_hosts = [&](std::vector<std::string> flags, const std::string& groups) {
    flags.insert(flags.end(), {"--launch=ssh", "--workers=3", "--dry-run", configuration("groups:\n" + groups)});
    return arguments(std::move(flags));
  };
  const std::string groups = "  counter: {hosts: [h3], gpus: 4096}\n  worker: {hosts: [h1, h2]}\n";
  Subprocess text(on_hosts({"--hosts=h1:1,h2:2,h3"}, groups));
  EXPECT_EQ(text.wait().code, 0) << text.err();
  EXPECT_TRUE(has(text.out(),
                  "\nif each host has what its nodes need:\n  on h3: counter\n  on h1: worker/0\n"
                  "  on h2: worker/1, worker/2\n"))
      << text.out();
  Subprocess json(on_hosts({"--hosts=h1:1,h2:2,h3", "--json"}, groups));
  EXPECT_EQ(json.wait().code, 0) << json.err();
  EXPECT_TRUE(has(json.out(), R"({"name":"worker/2","group":"worker","index":2,"process":3,"host":"h2",)"))
      << json.out();
  Subprocess wrong(on_hosts({"--hosts=h1"}, groups));
  EXPECT_EQ(wrong.wait().code, 2);
  EXPECT_TRUE(has(wrong.err(), "group counter: the run has no host \"h3\"")) << wrong.err();
  Subprocess none(on_hosts({}, ""));
  EXPECT_EQ(none.wait().code, 2);
  EXPECT_TRUE(has(none.err(), "--launch=ssh needs --hosts")) << none.err();
}

TEST_F(MainTest, MoreMemoryThanTheHostHasIsRefused) {
  Subprocess program(arguments({configuration("groups:\n  worker:\n    memory: 1000T\n")}));
  EXPECT_EQ(program.wait().code, 2);
  EXPECT_TRUE(has(program.err(), " of memory, but the program needs 2000T (")) << program.err();
}

TEST_F(MainTest, ANodeThatTakesMoreThanItsMemoryIsEndedAndSaysSo) {
  const std::string file = configuration("groups:\n  worker:\n    memory: 192M\n");
  Subprocess program(arguments({with_processes(), "--mode=takes memory", file}));
  EXPECT_EQ(program.wait().code, 1);
  EXPECT_TRUE(has(program.err(), "the program failed: worker/1: was killed by its agent: it used ")) << program.err();
  EXPECT_TRUE(program.err().ends_with(" of memory, and its `memory` is 192M\n")) << program.err();
}

}  // namespace
}  // namespace lp::test
