// Restarts of nodes by the coordinator: those of a policy, and those that a person wants.

#include <gtest/gtest.h>
#include <signal.h>

#include "launchers/supervisor/coordinator.h"
#include "lp/base/error.h"
#include "tests/launchers/supervisor/coordinator_fixture.h"

namespace lp::launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_F(CoordinatorTest, TheBackoffDoublesAndTheBudgetEnds) {
  make(server_and_workers(restart(2, milliseconds(100))));
  all_ready();
  exit(1, {.signal = 9}, 1);
  pass(milliseconds(100));
  exit(1, {.signal = 9}, 2);
  executor_->take();
  pass(milliseconds(199));
  EXPECT_EQ(executor_->take(), "");
  pass(milliseconds(1));
  EXPECT_EQ(executor_->take().substr(0, 16), "start worker/0 3");
  exit(1, {.signal = 9}, 3);
  EXPECT_EQ(coordinator_->phase(), Phase::stopping);
  exit(0);
  exit(2);
  EXPECT_EQ(coordinator_->result().cause.what,
            "was killed by signal 9 (SIGKILL) before it was ready; its budget of 2 restarts is used up");
}

TEST_F(CoordinatorTest, AFailureForGoodEndsTheProgramWhateverThePolicy) {
  for (const FailurePolicy policy : {restart(3), ignore()}) {
    make(server_and_workers(policy));
    all_ready();
    report(1, 1, NodeEvent::Failed{.error = Error(ErrorKind::failed, "no such file"), .for_good = true});
    EXPECT_EQ(coordinator_->phase(), Phase::stopping);
    finished(1, 1);
    exit(1);
    exit(0);
    exit(2);
    EXPECT_EQ(commands().find("start"), std::string::npos);
    EXPECT_FALSE(coordinator_->result().success);
    EXPECT_EQ(coordinator_->result().cause.node, "worker/0");
    EXPECT_EQ(coordinator_->result().cause.what, "no such file");
  }
}

TEST_F(CoordinatorTest, ARestartThatSomebodyWantsCostsNoBudget) {
  make(server_and_workers());
  all_ready();
  EXPECT_EQ(coordinator_->restart_node("worker/1"), "worker/1 is restarted");
  EXPECT_EQ(commands(), "stop worker/1\n");
  EXPECT_THROW(coordinator_->restart_node("worker/1"), Error);  // it is already ending
  finished(2, 1);                                               // by the stop, which does not count as its work
  exit(2);
  EXPECT_TRUE(commands().starts_with("start worker/1 2\n"));
  EXPECT_EQ(coordinator_->status().nodes[2].restarts, 0);
  EXPECT_EQ(coordinator_->phase(), Phase::running);
  ready(2, 2);
  EXPECT_TRUE(commands().find("run worker/1\n") != std::string::npos);
}

TEST_F(CoordinatorTest, AllNodesOfAGroupAreRestartedWhenSomebodyWantsThat) {
  make(server_and_workers());
  all_ready();
  EXPECT_EQ(coordinator_->restart_node("worker"), "worker/0, worker/1 are restarted");
  EXPECT_EQ(commands(), "stop worker/0\nstop worker/1\n");
  EXPECT_THROW(coordinator_->restart_node("worker"), Error);
  exit(1);
  exit(2);
  EXPECT_EQ(coordinator_->status().nodes[1].incarnation, 2U);
  EXPECT_EQ(coordinator_->status().nodes[2].incarnation, 2U);
}

TEST_F(CoordinatorTest, TheRestOfAGroupIsRestartedWithoutThoseThatHaveEnded) {
  make(server_and_workers(ignore()));
  all_ready();
  exit(2, {.code = 1});
  EXPECT_TRUE(coordinator_->status().nodes[2].given_up);
  EXPECT_EQ(coordinator_->status().nodes[2].state, NodeStatus::State::failed);
  commands();
  EXPECT_EQ(coordinator_->restart_node("worker"),
            "worker/0 is restarted; worker/1 cannot be restarted: it has ended, and the program continues without it");
  EXPECT_EQ(commands(), "stop worker/0\n");
  EXPECT_FALSE(coordinator_->status().nodes[1].given_up);
  EXPECT_THROW(coordinator_->restart_node("wroker"), Error);
}

TEST_F(CoordinatorTest, ANodeThatDoesNotEndForItsRestartIsKilled) {
  make(server_and_workers(), {.grace = seconds(10)});
  all_ready();
  coordinator_->restart_node("server");
  pass(seconds(9));
  EXPECT_EQ(commands().find("kill server"), std::string::npos);
  pass(seconds(2));
  exit(0, {.signal = 9});
  const std::string told = commands();
  EXPECT_NE(told.find("start server 2\n"), std::string::npos) << told;
  EXPECT_EQ(coordinator_->phase(), Phase::running);
}

TEST_F(CoordinatorTest, ANodeThatWaitsToBeRestartedIsStartedAtOnceWhenSomebodyWantsThat) {
  make(server_and_workers(restart(3, seconds(5))));
  all_ready();
  exit(2, {.code = 1});
  EXPECT_EQ(commands().find("start worker/1"), std::string::npos);
  coordinator_->restart_node("worker/1");
  EXPECT_NE(commands().find("start worker/1 2\n"), std::string::npos);
  pass(seconds(6));
  EXPECT_EQ(commands().find("start worker/1"), std::string::npos);
}

TEST_F(CoordinatorTest, WhoeverIsNotThereIsNotRestarted) {
  make(server_and_workers(ignore()));
  all_ready();
  exit(2, {.code = 1});
  EXPECT_THROW(coordinator_->restart_node("worker/1"), Error);  // given up
  EXPECT_THROW(coordinator_->restart_node("worker/2"), Error);
  coordinator_->stop("enough");
  EXPECT_THROW(coordinator_->restart_node("worker/0"), Error);
}

}  // namespace
}  // namespace lp::launch
