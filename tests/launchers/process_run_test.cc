// Programs whose nodes are processes: real ones, really killed.

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <vector>

#include "launchers/os/spawn.h"
#include "launchers/test_run.h"
#include "lp/base/error.h"
#include "tests/launchers/programs_for_test.h"
#include "tests/launchers/tools_for_test.h"
#include "tests/launchers/watched.h"

namespace lp::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Handle<Counter> kCounter("counter");

int pid_of(lp::Run& run, const std::string& node) {
  for (const NodeStatus& status : run.status().nodes) {
    if (status.name == node) return status.pid;
  }
  return 0;
}

std::string command_line(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline");
  return {std::istreambuf_iterator<char>(file), {}};
}

// Waits until the worker of `run` has reported its process.
int worker_pid(lp::Run& run) {
  const Time end = after(seconds(20));
  int pid = 0;
  while (pid == 0 && now() < end) pid = run.client(kCounter).call<&Counter::worker_pid>();
  return pid;
}

TEST(ProcessRun, EndsWithSuccessWhenItsWorkersHaveFinished) {
  const Config config{.workers = 3, .steps = 7};
  int total = 0;
  LaunchOptions options = processes(config);
  options.report = [&](lp::Run& run) { total = run.client(kCounter).call<&Counter::total>(); };
  lp::Run run(make_counting(config), options);
  EXPECT_TRUE(run.wait().success) << run.wait().cause.text();
  EXPECT_EQ(total, 21);
}

TEST(ProcessRun, AProcessCarriesItsNodesNameAndNothingSecret) {
  const Config config{.mode = "waits"};
  TestRun run(make_counting(config), processes(config));
  EXPECT_NE(command_line(pid_of(run, "worker/1")).find("--lp-node=worker/1"), std::string::npos);
  EXPECT_NE(pid_of(run, "worker/1"), getpid());
}

TEST(ProcessRun, TheKernelTakesANodeRatherThanWhoWatchesItWhenMemoryRunsOut) {
  const auto score = [](int pid) {
    int read = -1;
    std::ifstream("/proc/" + std::to_string(pid) + "/oom_score_adj") >> read;
    return read;
  };
  const Config config{.mode = "waits"};
  TestRun run(make_counting(config), processes(config));
  EXPECT_EQ(score(pid_of(run, "worker/1")), std::min(score(getpid()) + 200, 1000));
}

TEST(ProcessRun, AKilledWorkerStopsTheProgramWithinTwoSecondsAndIsTheCause) {
  const Config config{.mode = "waits"};
  TestRun run(make_counting(config), processes(config));
  kill(pid_of(run, "worker/1"), SIGKILL);
  ASSERT_TRUE(run.wait_for(seconds(2)));
  EXPECT_EQ(run.wait().exit_code(), 1);
  EXPECT_EQ(run.wait().cause.text(), "worker/1: was killed by signal 9 (SIGKILL)");
}

TEST(ProcessRun, AnExceptionComesWithItsTypeItsTextAndExitCodeOne) {
  const Config config{.mode = "throws"};
  lp::Run run(make_counting(config), processes(config));
  EXPECT_FALSE(run.wait().success);
  EXPECT_EQ(run.wait().cause.node, "worker/1");
  EXPECT_EQ(run.wait().cause.what, "std::runtime_error: no data here");
  EXPECT_EQ(run.wait().cause.exit.code, 1);
}

TEST(ProcessRun, AnAbortComesWithItsBacktraceAndLastWords) {
  const Config config{.mode = "aborts"};
  lp::Run run(make_counting(config), processes(config));
  EXPECT_FALSE(run.wait().success);
  const Cause& cause = run.wait().cause;
  EXPECT_EQ(cause.exit.signal, SIGABRT);
  EXPECT_EQ(cause.last_lines, std::vector<std::string>{"about to abort"});
#if !defined(LP_SANITIZED)
  EXPECT_NE(cause.text().find("abort"), std::string::npos);
  EXPECT_GT(cause.backtrace.size(), 3u) << cause.text();
  if (command("addr2line --version").code == 0) {
    EXPECT_NE(cause.text().find("run(lp::Context&) at "), std::string::npos) << cause.text();  // perhaps inlined
    EXPECT_NE(cause.text().find("/programs_for_test.cc:"), std::string::npos) << cause.text();
  }
#endif
}

#if !defined(LP_SANITIZED)  // a sanitizer reports it itself
TEST(ProcessRun, AStackOverflowOfAHandlerComesWithItsBacktrace) {
  const Config config{.mode = "recurses"};
  lp::Run run(make_counting(config), processes(config));
  const Cause& cause = run.wait().cause;
  EXPECT_EQ(cause.node, "counter");
  EXPECT_EQ(cause.what, "was killed by signal 11 (SIGSEGV), stack overflow");
  EXPECT_NE(cause.text().find("recurse"), std::string::npos) << cause.text();
}
#endif

TEST(ProcessRun, AnExitCodeIsTheCause) {
  const Config config{.mode = "exits"};
  lp::Run run(make_counting(config), processes(config));
  EXPECT_EQ(run.wait().cause.text(), "worker/1: exited with code 3");
}

TEST(ProcessRun, ANodeThatExitsBeforeItRegistersIsTheCause) {
  const Config config{.mode = "exits early"};
  lp::Run run(make_counting(config), processes(config));
  EXPECT_EQ(run.wait().cause.text(), "worker/1: exited with code 7 before it was ready");
}

TEST(ProcessRun, AKilledWorkerIsStartedAgain) {
  const Config config{.mode = "killed once", .steps = 4, .restart = true};
  int total = 0;
  LaunchOptions options = processes(config);
  options.report = [&](lp::Run& run) { total = run.client(kCounter).call<&Counter::total>(); };
  lp::Run run(make_counting(config), options);
  EXPECT_TRUE(run.wait().success) << run.wait().cause.text();
  EXPECT_EQ(total, 8);
  EXPECT_EQ(run.status().nodes[2].restarts, 1);
  EXPECT_EQ(run.status().nodes[2].incarnation, 2u);
}

TEST(ProcessRun, AKilledServiceIsReachedAgain) {
  const Config config{.mode = "waits", .restart = true};
  LaunchOptions options = processes(config);
  options.placements = {
      {.group = "counter",
       .on_failure = GroupPlacement::OnFailure{.action = GroupPlacement::OnFailure::Action::restart, .budget = 1}}};
  TestRun run(make_counting(config), options);
  run.client(kCounter).call<&Counter::add>(5);
  const Watched counter(pid_of(run, "counter"));
  kill(counter.pid(), SIGKILL);
  ASSERT_TRUE(counter.ends_within(seconds(5)));
  // The call may meet the connection as it breaks; then it fails with that error.
  std::optional<int> total;
  while (!total.has_value()) {
    try {
      total = run.client(kCounter).call<&Counter::total>();
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::disconnected) << error.what();
    }
  }
  EXPECT_EQ(*total, 0);
}

TEST(ProcessRun, AStoppedProcessIsFoundWithinTheHeartbeat) {
  const Config config{.mode = "waits"};
  LaunchOptions options = processes(config);
  options.heartbeat = milliseconds(900);
  TestRun run(make_counting(config), options);
  const Time begin = now();
  kill(pid_of(run, "counter"), SIGSTOP);
  ASSERT_TRUE(run.wait_for(seconds(10)));
  EXPECT_LT(now() - begin, seconds(3));
  EXPECT_EQ(run.wait().cause.node, "counter");
  EXPECT_TRUE(run.wait().cause.hanging);
}

TEST(ProcessRun, AStoppedProcessIsWokenToEndWithTheProgram) {
  const Config config{.mode = "waits"};
  TestRun run(make_counting(config), processes(config));
  const int counter = pid_of(run, "counter");
  kill(counter, SIGSTOP);
  const Time end = after(seconds(10));
  while (contents("/proc/" + std::to_string(counter) + "/stat").find(") T ") == std::string::npos && now() < end) {
  }
  run.stop("enough");
  ASSERT_TRUE(run.wait_for(seconds(5)));  // half of the grace period
  EXPECT_TRUE(run.wait().success) << run.wait().cause.text();
}

TEST(ProcessRun, WhatANodeLeavesBehindIsKilledWithTheRun) {
  const Config config{.workers = 1, .mode = "leaves a daemon"};
  std::optional<Watched> daemon;
  {
    TestRun run(make_counting(config), processes(config));
    const int worker = worker_pid(run);
    for (const int process : launch::descendants(getpid())) {
      if (process != worker && command_line(process).find("--lp-node=worker/0") != std::string::npos)
        daemon.emplace(process);
    }
    ASSERT_TRUE(daemon.has_value());
  }
  EXPECT_TRUE(daemon->ends_within(seconds(2)));
}

TEST(ProcessRun, ARunOfTheSameNameOutlivesAKilledAgent) {
  const Config config{.mode = "waits"};
  LaunchOptions options = processes(config);
  options.name = "twin";
  TestRun other(make_counting(config), options);
  const Watched counter(pid_of(other, "counter"));
  const std::vector<pid_t> before = launch::descendants(getpid());
  TestRun run(make_counting(config), options);
  AllWatched ended;
  for (const pid_t process : launch::descendants(getpid())) {
    if (std::find(before.begin(), before.end(), process) != before.end()) continue;
    ended.push_back(std::make_unique<Watched>(process));
    if (command_line(process).find("--lp-agent") != std::string::npos) kill(process, SIGKILL);
  }
  ASSERT_TRUE(run.wait_for(seconds(5)));
  expect_end_within(seconds(5), ended);
  EXPECT_FALSE(counter.ends_within(Duration::zero()));
  other.stop("enough");
  EXPECT_TRUE(other.wait().success) << other.wait().cause.text();
}

TEST(ProcessRun, AKilledAgentTakesItsNodesAlongAndIsTheCause) {
  const Config config{.mode = "waits"};
  TestRun run(make_counting(config), processes(config));
  const Watched counter(pid_of(run, "counter"));
  for (const int process : launch::descendants(getpid())) {
    if (command_line(process).find("--lp-agent") != std::string::npos) kill(process, SIGKILL);
  }
  ASSERT_TRUE(run.wait_for(seconds(5)));
  EXPECT_TRUE(counter.ends_within(seconds(2)));
  EXPECT_NE(run.wait().cause.text().find("agent"), std::string::npos) << run.wait().cause.text();
}

TEST(ProcessRun, MembersOfACutGoOnTogetherAfterAKill) {
  const Directory directory;
  const Config config{.mode = "killed once", .steps = 20};
  LaunchOptions options = processes(config, "saving");
  options.directory = directory.path();
  lp::Run run(make_saving(config), options);
  EXPECT_TRUE(run.wait().success) << run.wait().cause.text();
  const RunStatus status = run.status();
  EXPECT_EQ(status.nodes[0].restarts, 1);
  EXPECT_EQ(status.nodes[1].incarnation, 2u);
  EXPECT_GE(status.cut, 18u);
}

TEST(ProcessRun, AnImpureProgramIsRefusedWithASentence) {
  lp::Run run(make_impure({}), processes(Config(), "impure"));
  EXPECT_NE(run.wait().cause.what.find("depends on more than its configuration"), std::string::npos)
      << run.wait().cause.text();
}

TEST(ProcessRun, LogsHoldWhatNodesPrint) {
  const Directory directory;
  const Config config{.workers = 1, .mode = "prints"};
  LaunchOptions options = processes(config);
  options.directory = directory.path();
  lp::Run run(make_counting(config), options);
  EXPECT_TRUE(run.wait().success);
  const std::string log = contents(directory.path() / "logs/worker/0.log");
  EXPECT_NE(log.find("a line\nbytes \x01\xff\nno end"), std::string::npos);
  EXPECT_NE(log.find("an error\n"), std::string::npos);
  EXPECT_GT(log.size(), 3'000'000u);
  EXPECT_NE(contents(directory.path() / "status.json").find("\"phase\":\"ended\""), std::string::npos);
  EXPECT_NE(contents(directory.path() / "plan.json").find("\"worker/0\""), std::string::npos);
}

TEST(ProcessRun, ADirectoryThatCannotBeWrittenIsRefused) {
  LaunchOptions options = processes(Config());
  options.directory = "/proc/nowhere";
  try {
    lp::Run run(make_counting({}), options);
    FAIL() << "it started";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("choose another one with --directory"), std::string::npos);
  }
}

TEST(ProcessRun, LaunchedFromAThreadThatEndsItGoesOn) {
  const Config config{.mode = "waits"};
  std::unique_ptr<lp::Run> run;
  spawn("short", [&] { run = std::make_unique<lp::Run>(make_counting(config), processes(config)); }).join();
  ASSERT_TRUE(run->wait_ready(seconds(20)));
  EXPECT_FALSE(run->wait_for(milliseconds(50)));
  run->stop("done");
  EXPECT_TRUE(run->wait().success);
}

}  // namespace
}  // namespace lp::test
