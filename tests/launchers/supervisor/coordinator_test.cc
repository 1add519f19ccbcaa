#include "launchers/supervisor/coordinator.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "lp/base/enums.h"
#include "lp/base/error.h"
#include "tests/launchers/supervisor/coordinator_fixture.h"

namespace lp::launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_F(CoordinatorTest, TheFirstNodeThatKnowsItsTotalShowsTheProgress) {
  make(server_and_workers());
  start();
  for (const NodeId node : {0U, 1U, 2U}) ready(node);
  EXPECT_EQ(coordinator_->speaker(), "");
  report(1, 1, Progress{.step = 5});
  EXPECT_EQ(coordinator_->speaker(), "worker/0");
  report(0, 1, Progress{.step = 5});
  EXPECT_EQ(coordinator_->speaker(), "server");
  report(2, 1, Progress{.step = 1, .total = 4});
  report(0, 1, Progress{.step = 6});
  EXPECT_EQ(coordinator_->speaker(), "worker/1");
  report(1, 1, Progress{.step = 2, .total = 4});
  EXPECT_EQ(coordinator_->speaker(), "worker/0");
}

TEST_F(CoordinatorTest, ANodeKnowsTheKeysOfItsCallersBeforeTheyAreThere) {
  make(server_and_workers());
  executor_->keyed = true;
  start();
  EXPECT_EQ(commands(),
            "start server 1\nstart worker/0 1\nstart worker/1 1\n"
            "tell server: worker/0 0 down with key-2\ntell server: worker/1 0 down with key-3\n");
  ready(0);
  EXPECT_EQ(commands(),
            "tell worker/0: server 1 at endpoint-0 with key-1\ntell worker/1: server 1 at endpoint-0 with key-1\n");
}

TEST_F(CoordinatorTest, TheKeyOfANodeIsRevokedAtOnceAndTheNextOneHasAnother) {
  make(server_and_workers(restart(1)));
  executor_->keyed = true;
  all_ready();
  failed(1, 1, Error(ErrorKind::failed, "oops"));
  EXPECT_EQ(commands(), "stop worker/0\ntell server: worker/0 1 down\n");
  exit(1);
  EXPECT_EQ(commands(), "");
  pass(milliseconds(100));
  EXPECT_EQ(executor_->take(),
            "start worker/0 2\ntell server: worker/0 2 down with key-4\n"
            "tell worker/0: server 1 at endpoint-0 with key-1\n");
}

TEST_F(CoordinatorTest, RunBeginsWhenTheNodesThatANodeCallsAreReady) {
  make(server_and_workers());
  start();
  EXPECT_EQ(commands(), "start server 1\nstart worker/0 1\nstart worker/1 1\n");
  ready(1);
  EXPECT_EQ(commands(), "");
  ready(0);
  EXPECT_EQ(commands(), "tell worker/0: server 1 at endpoint-0\ntell worker/1: server 1 at endpoint-0\nrun worker/0\n");
  EXPECT_EQ(coordinator_->phase(), Phase::starting);
  ready(2);
  EXPECT_EQ(commands(), "run worker/1\n");
  EXPECT_EQ(coordinator_->phase(), Phase::running);
}

TEST_F(CoordinatorTest, WhyANodeIsNotReadyInTimeIsSaid) {
  for (const auto& [delay, why] : {std::pair("", "its constructor or load() takes too long"),
                                   {"its host could not be connected", "its host could not be connected"}}) {
    make(server_and_workers(), {.start = seconds(60)});
    executor_->delayed = delay;
    start();
    ready(0);
    ready(1);
    pass(seconds(59));
    EXPECT_EQ(listener_.logged.back(),
              std::string("worker/1 is not ready after 30 s: ") + why + "; a start may take 60 s");
    EXPECT_EQ(coordinator_->phase(), Phase::starting);
    pass(seconds(1));
    EXPECT_EQ(coordinator_->result().cause.node, "worker/1");
    EXPECT_EQ(coordinator_->result().cause.what, std::string("was not ready in time: ") + why);
  }
}

TEST_F(CoordinatorTest, NodesThatCallEachOtherStart) {
  SupervisionGraph graph;
  graph.groups = {{.name = "a"}, {.name = "b"}};
  graph.nodes = {{.name = "a", .group = 0, .process = 0, .active = true, .calls = {1}},
                 {.name = "b", .group = 1, .process = 1, .active = true, .calls = {0}}};
  make(std::move(graph));
  start();
  executor_->take();
  ready(0);
  ready(1);
  EXPECT_EQ(commands(), "tell a: b 1 at endpoint-1\ntell b: a 1 at endpoint-0\nrun b\nrun a\n");
}

TEST_F(CoordinatorTest, NodesOfOneProcessAreNotToldOfEachOther) {
  SupervisionGraph graph = server_and_workers();
  graph.nodes[1].process = 0;
  graph.nodes[2].process = 1;
  make(std::move(graph));
  start();
  EXPECT_EQ(commands(), "start server,worker/0 1\nstart worker/1 1\n");
  ready(0);
  ready(1);
  EXPECT_EQ(commands(), "tell worker/1: server 1 at endpoint-0\nrun worker/0\n");
}

TEST_F(CoordinatorTest, EndsWhenEveryActiveNodeHasFinished) {
  make(server_and_workers());
  all_ready();
  finished(1, 1);
  EXPECT_EQ(commands(), "");
  finished(2, 1);
  EXPECT_EQ(commands(), "stop server\nstop worker/0\nstop worker/1\n");
  all_exit();
  EXPECT_EQ(coordinator_->phase(), Phase::ended);
  EXPECT_TRUE(coordinator_->result().success);
  EXPECT_EQ(coordinator_->result().exit_code(), 0);
}

TEST_F(CoordinatorTest, EndsWhenTheGroupThatEndsTheProgramHasFinished) {
  SupervisionGraph graph = server_and_workers();
  graph.groups.push_back({.name = "learner", .ends_program = true});
  graph.nodes.push_back({.name = "learner", .group = 2, .process = 3, .active = true});
  make(std::move(graph));
  all_ready();
  finished(3, 1);
  EXPECT_EQ(coordinator_->phase(), Phase::stopping);
}

TEST_F(CoordinatorTest, TheReportIsMadeWhileServicesServe) {
  make(server_and_workers(), {.report = true});
  all_ready();
  stop_requested(1, 1, "enough");
  EXPECT_EQ(coordinator_->phase(), Phase::reporting);
  EXPECT_EQ(commands(), "");
  coordinator_->report_done(std::nullopt);
  EXPECT_EQ(commands(), "stop server\nstop worker/0\nstop worker/1\n");
  all_exit();
  EXPECT_TRUE(coordinator_->result().success);
  EXPECT_EQ(coordinator_->result().reason, "worker/0 stopped the program: enough");
}

TEST_F(CoordinatorTest, AReportThatFailsFailsTheRun) {
  make(server_and_workers(), {.report = true});
  all_ready();
  stop_requested(1, 1, "enough");
  coordinator_->report_done("no such node");
  all_exit();
  EXPECT_FALSE(coordinator_->result().success);
  EXPECT_EQ(coordinator_->result().cause.text(), "report: no such node");
}

TEST_F(CoordinatorTest, AKilledNodeStopsTheProgramAndIsTheCause) {
  make(server_and_workers());
  all_ready();
  exit(2, {.signal = 9});
  EXPECT_EQ(commands(), "stop server\nstop worker/0\n");
  exit(0);
  exit(1, {.code = 1});
  const RunResult& result = coordinator_->result();
  EXPECT_EQ(result.exit_code(), 1);
  EXPECT_EQ(result.cause.node, "worker/1");
  EXPECT_EQ(result.cause.exit.signal, 9);
  EXPECT_EQ(result.cause.text(),
            "worker/1: was killed by signal 9 (SIGKILL)\n  the end of its standard error:\n    last words");
}

TEST_F(CoordinatorTest, AnExceptionIsTheCauseAndTheExitStatusComesWithIt) {
  make(server_and_workers());
  all_ready();
  failed(1, 1, Error(ErrorKind::failed, "no data", {.type = "std::runtime_error", .node = "worker/0"}));
  EXPECT_EQ(coordinator_->phase(), Phase::stopping);
  // Failures of other nodes due to the stop are no cause.
  failed(2, 1, Error(ErrorKind::disconnected, "server is gone"));
  exit(1, {.code = 1});
  exit(0);
  exit(2);
  EXPECT_EQ(coordinator_->result().cause.node, "worker/0");
  EXPECT_EQ(coordinator_->result().cause.what, "std::runtime_error: no data");
  EXPECT_EQ(coordinator_->result().cause.exit.code, 1);
}

TEST_F(CoordinatorTest, ANodeThatExitsBeforeItIsReadyIsACause) {
  make(server_and_workers());
  start();
  exit(0, {.code = 3});
  exit(1);
  exit(2);
  EXPECT_EQ(coordinator_->result().cause.what, "exited with code 3 before it was ready");
}

TEST_F(CoordinatorTest, ARestartedNodeIsANewIncarnationAndTheOldOneNoLongerCounts) {
  make(server_and_workers(restart(2)));
  all_ready();
  exit(1, {.signal = 9});
  pass(milliseconds(99));
  EXPECT_EQ(executor_->take(), "");
  pass(milliseconds(1));
  EXPECT_EQ(executor_->take(),
            "start worker/0 2\ntell server: worker/0 2 down\ntell worker/0: server 1 at endpoint-0\n");
  ready(1, 1);
  finished(1, 1);
  EXPECT_EQ(commands(), "");
  ready(1, 2);
  EXPECT_EQ(commands(), "run worker/0\n");  // the server does not call it
  EXPECT_EQ(coordinator_->status().nodes[1].restarts, 1);
}

TEST_F(CoordinatorTest, ClientsOfARestartingServiceAreToldThatItIsDown) {
  make(server_and_workers(restart(2)));
  all_ready();
  exit(0, {.signal = 11});
  EXPECT_EQ(commands(), "tell worker/0: server 1 down\ntell worker/1: server 1 down\n");
}

TEST_F(CoordinatorTest, AnIgnoredFailureLetsTheProgramGoOn) {
  make(server_and_workers(ignore()));
  all_ready();
  exit(1, {.code = 1});
  EXPECT_EQ(coordinator_->phase(), Phase::running);
  finished(2, 1);
  exit(0);
  exit(2);
  EXPECT_TRUE(coordinator_->result().success);
}

TEST_F(CoordinatorTest, WhenEveryWorkerWasIgnoredTheRunHasFailed) {
  make(server_and_workers(ignore()));
  all_ready();
  exit(1, {.code = 1});
  exit(2, {.code = 1});
  exit(0);
  EXPECT_FALSE(coordinator_->result().success);
  EXPECT_EQ(coordinator_->result().cause.node, "worker/0");
}

TEST_F(CoordinatorTest, AClientOfAnIgnoredServiceIsToldThatItIsGone) {
  make(server_and_workers(ignore()));
  start();
  ready(1);
  executor_->take();
  exit(0, {.code = 1});
  EXPECT_EQ(commands(), "tell worker/0: server 1 gone\ntell worker/1: server 1 gone\nrun worker/0\n");
}

TEST_F(CoordinatorTest, AServiceThatDoesNotAnswerIsFoundWithinTheHeartbeat) {
  make(server_and_workers(), {.heartbeat = seconds(6)});
  all_ready();
  pass(seconds(1));
  EXPECT_EQ(executor_->take(), "probe server\nprobe worker/0\nprobe worker/1\n");
  alive(1, 1);
  alive(2, 1);
  pass(seconds(1));
  alive(1, 1);
  alive(2, 1);
  for (int i = 0; i < 4; ++i) {
    executor_->take();
    pass(seconds(1));
    alive(1, 1);
    alive(2, 1);
  }
  EXPECT_EQ(executor_->take(), "kill server\nstop worker/0\nstop worker/1\n");
  exit(0, {.signal = 9});
  exit(1);
  exit(2);
  EXPECT_TRUE(coordinator_->result().cause.hanging);
  EXPECT_EQ(coordinator_->result().cause.what, "hangs: its service has not answered within the heartbeat of 6 s");
}

TEST_F(CoordinatorTest, WhatHangsIsNamedWithWhatItDoesInItsTurn) {
  make(server_and_workers(), {.heartbeat = seconds(6)});
  all_ready();
  pass(seconds(1));
  busy(0, 1, "push(), called by worker/1", seconds(2));
  alive(1, 1);
  alive(2, 1);
  EXPECT_EQ(coordinator_->status().nodes[0].work, "push(), called by worker/1");
  EXPECT_EQ(coordinator_->status().nodes[0].work_seconds, 2);
  for (int i = 0; i < 5; ++i) {
    pass(seconds(1));
    alive(1, 1);
    alive(2, 1);
  }
  exit(0, {.signal = 9});
  exit(1);
  exit(2);
  EXPECT_EQ(coordinator_->result().cause.what,
            "hangs: its service has not answered within the heartbeat of 6 s; it has been in push(), called by "
            "worker/1, for 7 s");
}

TEST_F(CoordinatorTest, WhoAnswersAfterAllIsBusyNoMore) {
  make(server_and_workers(), {.heartbeat = seconds(6)});
  all_ready();
  pass(seconds(1));
  busy(0, 1, "push(), called by worker/1", seconds(2));
  alive(0, 1);
  EXPECT_EQ(coordinator_->status().nodes[0].work, "");
}

TEST_F(CoordinatorTest, ASupervisorThatWasStoppedItselfBlamesNobody) {
  make(server_and_workers(), {.heartbeat = seconds(6)});
  all_ready();
  pass(seconds(1));
  pass(seconds(100));
  EXPECT_EQ(coordinator_->phase(), Phase::running);
}

TEST_F(CoordinatorTest, BoundsThatAreForEverNeverCome) {
  make(server_and_workers(), {.heartbeat = kForever, .grace = kForever});
  all_ready();
  pass(seconds(100'000));
  EXPECT_EQ(coordinator_->phase(), Phase::running);
  coordinator_->stop("enough");
  pass(seconds(100'000));
  EXPECT_EQ(coordinator_->phase(), Phase::stopping);
  all_exit();
  EXPECT_TRUE(coordinator_->result().success);
}

TEST_F(CoordinatorTest, AThreadThatIsLeftBehindBecauseAPersonWantedThatIsNoFailure) {
  make(server_and_workers());
  all_ready();
  coordinator_->stop("SIGINT", "SIGINT", SIGINT);
  coordinator_->kill();
  exit(0);
  exit(1, {.abandoned = true});
  exit(2);
  EXPECT_EQ(coordinator_->result().exit_code(), 128 + SIGINT);
}

TEST_F(CoordinatorTest, APatientRunNeverProbes) {
  make(server_and_workers(), {.heartbeat = seconds(6), .no_deadlines = true});
  all_ready();
  EXPECT_EQ(coordinator_->next(), kNever);
}

TEST_F(CoordinatorTest, WhatDoesNotEndInTheGracePeriodIsEndedByForce) {
  make(server_and_workers(), {.grace = seconds(3)});
  all_ready();
  coordinator_->stop("enough");
  EXPECT_EQ(commands(), "stop server\nstop worker/0\nstop worker/1\n");
  exit(1);
  exit(2);
  pass(seconds(3));
  EXPECT_EQ(executor_->take(), "kill server\n");
  pass(seconds(5));
  EXPECT_EQ(executor_->take(), "abandon\n");
  exit(0, {.signal = 9});
  EXPECT_FALSE(coordinator_->result().success);
  EXPECT_EQ(coordinator_->result().cause.node, "server");
}

TEST_F(CoordinatorTest, KillEndsEverythingAtOnce) {
  make(server_and_workers());
  all_ready();
  coordinator_->stop("SIGINT", "SIGINT", 2);
  executor_->take();
  coordinator_->kill();
  EXPECT_EQ(commands(), "kill server\nkill worker/0\nkill worker/1\n");
  for (std::size_t process = 0; process < 3; ++process) exit(process, {.signal = 9});
  EXPECT_EQ(coordinator_->phase(), Phase::ended);
  EXPECT_EQ(coordinator_->result().exit_code(), 130);
}

TEST_F(CoordinatorTest, ARunThatIsStoppedFromOutsideIsNoSuccessAndSaysByWhom) {
  make(server_and_workers());
  all_ready();
  coordinator_->stop("enough", "ann (lp stop)");
  coordinator_->stop("too late", "bob (lp stop)");
  all_exit();
  EXPECT_EQ(coordinator_->result().ending(), Ending::stopped);
  EXPECT_EQ(coordinator_->result().reason, "enough");
  EXPECT_EQ(coordinator_->result().stopped_by, "ann (lp stop)");
  EXPECT_EQ(coordinator_->result().exit_code(), RunResult::kStopped);
}

TEST_F(CoordinatorTest, ARunWhoseNodesAreKilledFromOutsideIsNoSuccessAlsoWhenItWasEnding) {
  make(server_and_workers());
  all_ready();
  for (const NodeId worker : {1U, 2U}) finished(worker, 1);
  ASSERT_EQ(coordinator_->phase(), Phase::stopping);
  coordinator_->stop("ann (lp stop)", "ann (lp stop)");
  coordinator_->kill("ann (lp stop)");
  coordinator_->kill("ann (lp stop)");
  for (std::size_t process = 0; process < 3; ++process) exit(process, {.signal = 9});
  EXPECT_EQ(coordinator_->result().ending(), Ending::stopped);
  EXPECT_EQ(coordinator_->result().reason, "every node has finished; its nodes were killed");
  EXPECT_EQ(coordinator_->result().stopped_by, "ann (lp stop)");
}

TEST_F(CoordinatorTest, ARunThatItsOwnLauncherStopsIsASuccess) {
  make(server_and_workers());
  all_ready();
  coordinator_->stop("enough");
  all_exit();
  EXPECT_EQ(coordinator_->result().ending(), Ending::succeeded);
}

TEST_F(CoordinatorTest, ANodeThatCrashesWhileItStopsFailsTheRun) {
  make(server_and_workers());
  all_ready();
  coordinator_->stop("enough");
  exit(0, {.signal = 11});
  exit(1);
  exit(2);
  EXPECT_EQ(coordinator_->result().cause.what, "was killed by signal 11 (SIGSEGV) while the program stopped");
}

TEST_F(CoordinatorTest, ALostHostEndsTheRun) {
  make(server_and_workers(restart(9)));
  all_ready();
  coordinator_->on_lost("the agent was killed");
  EXPECT_EQ(coordinator_->phase(), Phase::ended);
  EXPECT_EQ(coordinator_->result().cause.what, "the agent was killed");
  EXPECT_EQ(coordinator_->result().cause.node, "agent");
  EXPECT_EQ(coordinator_->result().reason, "agent failed");
}

TEST_F(CoordinatorTest, AHostThatIsLostWhileEveryNodeWaitsToBeRestartedEndsTheRun) {
  make(server_and_workers(restart(1000)));
  all_ready();
  for (std::size_t process = 0; process < 3; ++process) exit(process, {.signal = 9});
  ASSERT_EQ(coordinator_->phase(), Phase::running);
  coordinator_->on_lost("the agent was killed");
  EXPECT_EQ(coordinator_->phase(), Phase::ended);
  EXPECT_FALSE(coordinator_->result().success);
}

TEST_F(CoordinatorTest, AHostThatIsLostWhenAllHaveEndedFailsNoRun) {
  make(server_and_workers());
  all_ready();
  coordinator_->stop("enough");
  all_exit();
  coordinator_->on_lost("the agent was killed");
  EXPECT_TRUE(coordinator_->result().success);
}

TEST_F(CoordinatorTest, AFailureOutsideTheNodesIsItsOwnReason) {
  make(server_and_workers());
  all_ready();
  coordinator_->fail({.what = "the job was started again on another host"});
  EXPECT_EQ(coordinator_->result().reason, "the job was started again on another host");
}

// Two servers that save, and a worker that does not.
TEST_F(CoordinatorTest, ANodeThatHadFinishedMayCrashWhileTheProgramStops) {
  make(server_and_workers());
  all_ready();
  finished(1, 1);
  coordinator_->stop("enough");
  exit(1, {.signal = 9});
  exit(0);
  exit(2);
  EXPECT_TRUE(coordinator_->result().success) << coordinator_->result().cause.what;
}

TEST_F(CoordinatorTest, AGroupWhoseRunIsSwitchedOffOnlyServes) {
  make(server_and_workers(), {.idle = {"worker"}});
  start();
  executor_->take();
  for (NodeId node = 0; node < 3; ++node) ready(node);
  EXPECT_EQ(commands(), "tell worker/0: server 1 at endpoint-0\ntell worker/1: server 1 at endpoint-0\n");
  EXPECT_EQ(coordinator_->phase(), Phase::running);
}

TEST_F(CoordinatorTest, EventsTellWhatHappened) {
  make(server_and_workers(restart(1, milliseconds(1))));
  all_ready();
  exit(2, {.code = 3});
  pass(seconds(1));
  coordinator_->stop("enough");
  for (const std::size_t process : {0UL, 1UL}) exit(process);
  exit(2, {}, 2);
  std::string text;
  for (const RunEvent& event : listener_.events) {
    if (event.node == "worker/1" || event.node.empty()) {
      text += std::string(enum_name(event.kind)) + " " + event.text + "\n";
    }
  }
  EXPECT_EQ(
      text,
      "starting \nready \nphase running\nfailed exited with code 3\nrestarting restart 1 of 1 in 1 ms\nstarting \n"
      "phase stopping: enough\nended enough\n");
}

}  // namespace
}  // namespace lp::launch
