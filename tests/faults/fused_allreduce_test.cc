// Tensors that are summed while workers go on, in threads and in processes. One process is killed in the middle.

#include "nodes/collective/fused_allreduce.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <string>
#include <vector>

#include "launchers/test_run.h"
#include "lp/base/error.h"
#include "tests/faults/programs_for_test.h"
#include "tests/launchers/tools_for_test.h"
#include "tests/nodes/summing.h"

namespace lp::test {
namespace {

const GroupHandle<Summing> kSumming("summing", 3);
const Which kAll{0, 1, 2};
const Which kOthers{0, 2};

std::vector<Values> sums_in(LaunchType launch) {
  const Config config;
  LaunchOptions options = processes(config, "summing");
  options.launch = launch;
  TestRun run(make_summing(config), options);
  const Clients<Summing> workers = run.client(kSumming);
  workers.all<&Summing::join>();
  const std::vector<Values> expected = serial_sums(kAll, whole);
  for (std::uint64_t seed = 0; seed < 10; ++seed) EXPECT_TRUE(step(workers, kAll, seed, whole) == expected) << seed;
  const std::vector<Values> out = step(workers, kAll, 10, real);
  at_once<&Summing::end>(workers, kAll);
  return out;
}

TEST(FusedAllreduce, HasTheSameBitsInThreadsAndInProcesses) {
  const std::vector<Values> expected = serial_sums(kAll, real);
  EXPECT_TRUE(sums_in(LaunchType::threads) == expected);
  EXPECT_TRUE(sums_in(LaunchType::processes) == expected);
}

TEST(FusedAllreduce, AProcessThatIsKilledIsNamedByAllOthersWhichGoOn) {
  const Config config;
  TestRun run(make_summing(config), processes(config, "summing"));
  const Clients<Summing> workers = run.client(kSumming);
  workers.all<&Summing::join>();
  step(workers, kAll, 0, whole);
  workers[1].call<&Summing::start>(3U, whole(1, 3));
  std::vector<Future<void>> waits;
  for (const std::size_t worker : kOthers) {
    for (const std::uint32_t tensor : {3U, 2U}) workers[worker].call<&Summing::start>(tensor, whole(worker, tensor));
    waits.push_back(workers[worker].async<&Summing::wait>());
  }
  for (const NodeStatus& node : run.status().nodes) {
    if (node.name == "summing/1") {
      ASSERT_EQ(kill(node.pid, SIGKILL), 0);
    }
  }
  for (Future<void>& one : waits) {
    try {
      one.get();
      ADD_FAILURE() << "worker 1 never gave tensor 2";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::disconnected) << error.what();
      EXPECT_NE(std::string(error.what()).find("collective/1"), std::string::npos) << error.what();
    }
  }
  at_once<&Summing::join>(workers, kOthers);
  EXPECT_TRUE(step(workers, kOthers, 1, whole) == serial_sums(kOthers, whole));
  at_once<&Summing::end>(workers, kOthers);
}

}  // namespace

Program make_summing(const Config&) {
  Program program("summing");
  add_summing(program, static_cast<int>(kSumming.size()));
  program.function({.name = "waiter"}, [](Context& context) { context.wait_for_stop(); });
  return program;
}

}  // namespace lp::test
