// Usage and rates of nodes, from two measurements; and lp's view of them.

#include <fstream>
#include <map>

#include "lp/base/json_value.h"
#include "tests/directory.h"
#include "tests/lp/gpu/stand_in.h"
#include "tests/tools/lp/lp_fixture.h"
#include "tools/lp/rates.h"

namespace lp::test {
namespace {

using tool::rates_of;

MeasureRecord measured(double time, std::uint64_t calls, double cpu, int pid = 10) {
  MeasureRecord record{.time = time};
  record.status.nodes = {{.name = "server"}, {.name = "worker"}};
  record.processes = {{.nodes = {"server"}, .pid = pid, .cpu = cpu, .memory = 1000}};
  record.calls = {{.caller = "worker",
                   .callee = "server",
                   .method = "add",
                   .calls = calls,
                   .ended = calls - 2,
                   .bytes_sent = 10 * calls,
                   .latency = {0, calls}}};
  return record;
}

TEST(Rates, AreDifferencesBySecond) {
  const tool::Rates rates = rates_of(measured(100, 1000, 5), measured(102, 3000, 8));
  EXPECT_DOUBLE_EQ(rates.nodes[0].in.calls, 1000);
  EXPECT_DOUBLE_EQ(rates.nodes[1].out.calls, 1000);
  EXPECT_DOUBLE_EQ(rates.nodes[0].in.bytes, 10'000);
  EXPECT_EQ(rates.nodes[0].in.waiting, 2U);
  EXPECT_EQ(rates.nodes[0].in.latency.counts[1], 2000U);
  EXPECT_DOUBLE_EQ(rates.nodes[0].cpu, 1.5);
  EXPECT_DOUBLE_EQ(rates.edges.at({"worker", "server"}).calls, 1000);
}

TEST(Rates, AProcessThatWasRestartedBeginsAtZero) {
  const tool::Rates rates = rates_of(measured(100, 1000, 50, 10), measured(101, 30, 0.5, 11));
  EXPECT_DOUBLE_EQ(rates.nodes[0].in.calls, 30);
  EXPECT_EQ(rates.nodes[0].in.latency.counts[1], 30U);
  EXPECT_DOUBLE_EQ(rates.nodes[0].cpu, 0.5);
}

TEST(Rates, NumbersAreShort) {
  EXPECT_EQ(tool::short_number(0), "0");
  EXPECT_EQ(tool::short_number(7.46), "7.5");
  EXPECT_EQ(tool::short_number(999.4), "999");
  EXPECT_EQ(tool::short_number(999.6), "1.0k");
  EXPECT_EQ(tool::short_number(12'345'678), "12M");
  EXPECT_EQ(tool::short_time(std::chrono::nanoseconds(32'768)), "33µs");
  EXPECT_EQ(tool::short_time({}), "");
}

TEST_F(LpTest, TopShowsTheGpuOfEachNodeThatHasOne) {
  const GpuStandIn host(
      "driver 580.95.05 13000\n"
      "gpu GPU-aa 85899345920 1073741824 75 NVIDIA H100\n"
      "gpu GPU-bb 85899345920 2147483648 5 NVIDIA H100\n");
  const Directory files;
  const std::filesystem::path file = files.path() / "gpus.yaml";
  std::ofstream(file) << "groups: {worker: {gpus: 1}}\n";
  Subprocess program(waiting({"--config=" + file.string()}));
  wait_until_running();
  const Ended top = lp("top last --interval=0.2");
  EXPECT_TRUE(has(top.output, "GPU%")) << top.output;
  EXPECT_TRUE(has(top.output, "GPU MEMORY")) << top.output;
  const JsonValue json = JsonValue::parse(lp("top last --json --interval=0.2").output);
  std::map<std::string, std::string> seen;
  for (const JsonValue& node : json.find("nodes")->items()) {
    if (node.find("gpus")->items().empty()) continue;
    seen[node.find("gpus")->items().at(0).text()] = std::to_string(from_json<double>(*node.find("gpu_busy"))) + " " +
                                                    std::to_string(from_json<std::uint64_t>(*node.find("gpu_memory")));
  }
  EXPECT_EQ(seen,
            (std::map<std::string, std::string>{{"GPU-aa", "0.750000 1073741824"}, {"GPU-bb", "0.050000 2147483648"}}));
  EXPECT_EQ(lp("stop last").code, 0);
  program.wait();
}

TEST_F(LpTest, TopShowsALiveRun) {
  for (const char* launch : {"--launch=threads", "--launch=processes"}) {
    Subprocess program({"program", launch, "--steps=1000000000"});
    wait_until_running();
    const Ended once = lp("top last --interval=0.2");
    EXPECT_EQ(once.code, 0) << once.output;
    EXPECT_TRUE(has(once.output, "worker/1")) << once.output;
    EXPECT_TRUE(has(once.output, "all calls: ")) << once.output;
    const JsonValue json = JsonValue::parse(lp("top last --json --interval=0.2").output);
    const JsonValue& counter = json.find("nodes")->items()[0];
    EXPECT_GT(from_json<double>(*counter.find("in")->find("calls_per_second")), 0);
    EXPECT_EQ(counter.find("cpu")->kind() == JsonValue::Kind::null, std::string(launch) == "--launch=threads");
    OnTerminal top = on_terminal({"top", "last", "--interval=0.1", "--sort=calls"});
    ASSERT_TRUE(top.read_until("P99")) << top.shown();
    ASSERT_TRUE(top.read_until("P99", top.shown().size())) << top.shown();
    EXPECT_EQ(lp("stop last").code, 0);
    EXPECT_EQ(top.wait(), 0) << top.shown();
    EXPECT_TRUE(has(top.shown(), ": it was stopped by ")) << top.shown();
    program.wait();
  }
  EXPECT_EQ(lp("top last").code, 4);
  EXPECT_EQ(lp("top last --sort=size").code, 2);
}

TEST_F(LpTest, TopDoesNotWaitForAProcessThatIsStopped) {
  Subprocess program({"program", "--launch=processes", "--mode=stopped"});
  wait_until_running();
  const Ended once = lp("top last --interval=0.1");
  EXPECT_EQ(once.code, 0) << once.output;
  EXPECT_TRUE(has(once.output, "worker/1")) << once.output;
  EXPECT_EQ(lp("stop last --force").code, 0);
  program.wait();
}

}  // namespace
}  // namespace lp::test
