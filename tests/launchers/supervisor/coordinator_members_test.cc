// Elastic groups: present members, notifications, and the end when too few are left.

#include <gtest/gtest.h>
#include <signal.h>

#include "lp/base/enums.h"
#include "lp/base/error.h"
#include "tests/launchers/supervisor/coordinator_fixture.h"

namespace lp::launch {
namespace {

using std::chrono::milliseconds;
using State = NodeStatus::State;

// A watcher that calls three workers, of which `least` must be there. Node and process ids: watcher 0, worker/0 1, ...
SupervisionGraph watcher_and_workers(std::size_t least, FailurePolicy policy = restart(0)) {
  SupervisionGraph graph;
  graph.groups = {{.name = "watcher"},
                  {.name = "worker",
                   .on_failure = policy,
                   .replicas = std::to_string(least) + "..3",
                   .elastic = true,
                   .least = least}};
  graph.nodes = {{.name = "watcher", .group = 0, .process = 0, .active = true, .calls = {1, 2, 3}},
                 {.name = "worker/0", .group = 1, .process = 1, .active = true},
                 {.name = "worker/1", .group = 1, .process = 2, .active = true},
                 {.name = "worker/2", .group = 1, .process = 3, .active = true}};
  return graph;
}

class ElasticTest : public CoordinatorTest {
 protected:
  State state(NodeId node) const { return coordinator_->status().nodes[node].state; }
  std::string last_event() const {
    const RunEvent& event = listener_.events.back();
    return event.node + " " + std::string(enum_name(event.kind)) + ": " + event.text;
  }
};

TEST_F(ElasticTest, AMemberThatIsGivenUpLeavesAndItsCallersAreTold) {
  make(watcher_and_workers(2));
  all_ready();
  exit(2, {.signal = SIGKILL});
  EXPECT_EQ(commands(), "tell watcher: worker/1 1 gone\n");
  EXPECT_EQ(executor_->epoch, 1u);
  EXPECT_EQ(state(2), State::absent);
  EXPECT_EQ(last_event(),
            "worker/1 left: was killed by signal 9 (SIGKILL); its budget of 0 restarts is used up; the program "
            "continues without it");
  EXPECT_EQ(coordinator_->phase(), Phase::running);
}

TEST_F(ElasticTest, AMemberThatIsRestartedStaysAMember) {
  make(watcher_and_workers(3, restart(1)));
  all_ready();
  exit(2, {.signal = SIGKILL});
  pass(milliseconds(100));
  ready(2, 2);
  EXPECT_EQ(executor_->epoch, 0u);
  EXPECT_EQ(coordinator_->phase(), Phase::running);
}

TEST_F(ElasticTest, TooFewMembersStopTheProgram) {
  make(watcher_and_workers(2));
  all_ready();
  exit(1, {.signal = SIGKILL});
  exit(3, {.code = 3});
  EXPECT_EQ(commands(), "stop watcher\nstop worker/1\n");
  exit(0);
  exit(2);
  EXPECT_FALSE(coordinator_->result().success);
  EXPECT_EQ(coordinator_->result().cause.text(),
            "worker/2: exited with code 3; its budget of 0 restarts is used up; group worker has 1 member left, but "
            "needs 2\n  the end of its standard error:\n    last words");
}

TEST_F(ElasticTest, WhatIsIgnoredCountsToo) {
  make(watcher_and_workers(3, ignore()));
  all_ready();
  exit(1, {.signal = SIGKILL});
  EXPECT_EQ(coordinator_->phase(), Phase::stopping);
  EXPECT_EQ(coordinator_->result().cause.what,
            "was killed by signal 9 (SIGKILL); group worker has 2 members left, but needs 3");
}

TEST_F(CoordinatorTest, AFailureIsIgnoredOnlyWhileEnoughNodesOfTheGroupAreLeft) {
  SupervisionGraph graph = server_and_workers(ignore(1));
  graph.groups[1].least = 1;
  make(graph);
  all_ready();
  exit(1, {.code = 1});
  EXPECT_EQ(coordinator_->phase(), Phase::running);
  exit(2, {.code = 1});
  EXPECT_EQ(coordinator_->phase(), Phase::stopping);
  EXPECT_EQ(coordinator_->result().cause.what, "exited with code 1; group worker has 0 members left, but needs 1");
}

TEST_F(ElasticTest, AMemberThatWasGivenUpComesBackWhenItIsReady) {
  make(watcher_and_workers(1));
  all_ready();
  exit(2, {.signal = SIGKILL});
  commands();
  EXPECT_EQ(coordinator_->restart_node("worker/1"), "worker/1 is restarted");
  EXPECT_EQ(commands(), "start worker/1 2\ntell watcher: worker/1 2 gone\n");
  EXPECT_EQ(state(2), State::starting);
  EXPECT_EQ(executor_->epoch, 1u);
  ready(2, 2);
  EXPECT_EQ(commands(), "tell watcher: worker/1 2 at endpoint-2\nrun worker/1\n");
  EXPECT_EQ(executor_->epoch, 2u);
  EXPECT_EQ(state(2), State::running);
  EXPECT_EQ(last_event(), "worker/1 came: the program continues with it");
}

TEST_F(ElasticTest, ThoseWithoutASlotAreAbsentAndNotWaitedFor) {
  make(watcher_and_workers(1));
  executor_->slots = 2;
  start();
  EXPECT_EQ(commands(), "start watcher 1\nstart worker/0 1\nstart worker/1 1\ntell watcher: worker/2 0 gone\n");
  EXPECT_EQ(listener_.logged,
            std::vector<std::string>{"group worker starts with 2 of 1..3 members: has no host: all slots are in use"});
  for (const NodeId node : {0U, 1U, 2U}) ready(node);
  EXPECT_EQ(coordinator_->phase(), Phase::running);
  EXPECT_EQ(state(0), State::running);
  EXPECT_EQ(state(3), State::absent);
}

TEST_F(ElasticTest, WhoIsNeededGetsAPlaceInAnyCase) {
  make(watcher_and_workers(3));
  executor_->slots = 1;
  all_ready();
  EXPECT_EQ(coordinator_->phase(), Phase::running);
}

TEST_F(ElasticTest, WhoHadNoPlaceTakesThatOfOneThatLeaves) {
  make(watcher_and_workers(2));
  executor_->slots = 2;
  start();
  for (const NodeId node : {0U, 1U, 2U}) ready(node);
  commands();
  exit(1, {.signal = SIGKILL});
  EXPECT_EQ(commands(), "start worker/2 1\ntell watcher: worker/0 1 gone\n");
  EXPECT_EQ(coordinator_->phase(), Phase::running);
  ready(3);
  EXPECT_EQ(commands(), "tell watcher: worker/2 1 at endpoint-3\nrun worker/2\n");
  EXPECT_EQ(executor_->epoch, 3u);
  EXPECT_THROW(coordinator_->restart_node("worker/0"), Error);  // its slot is taken
}

TEST_F(ElasticTest, WhoHadNoPlaceComesWhenThereIsRoom) {
  make(watcher_and_workers(1));
  executor_->slots = 1;
  start();
  commands();
  executor_->slots = 2;
  coordinator_->on_room();
  EXPECT_EQ(commands(), "start worker/1 1\n");
  coordinator_->on_room();
  EXPECT_EQ(commands(), "");
}

TEST_F(ElasticTest, ACallerThatIsRestartedIsToldOfAll) {
  SupervisionGraph graph = watcher_and_workers(1);
  graph.groups[0].on_failure = restart(1);
  make(std::move(graph));
  all_ready();
  exit(2, {.signal = SIGKILL});
  exit(0, {.signal = SIGKILL});
  commands();
  pass(milliseconds(100));
  EXPECT_EQ(executor_->take(),
            "start watcher 2\ntell watcher: worker/0 1 at endpoint-1\ntell watcher: worker/1 1 gone\n"
            "tell watcher: worker/2 1 at endpoint-3\ntell worker/0: watcher 2 down\n"
            "tell worker/2: watcher 2 down\n");
}

TEST_F(ElasticTest, AMemberThatKnowsItsFellowsHearsOfItself) {
  SupervisionGraph graph;
  graph.groups = {{.name = "worker", .on_failure = restart(0), .replicas = "1..2", .elastic = true, .least = 1}};
  graph.nodes = {{.name = "worker/0", .group = 0, .process = 0, .active = true, .calls = {0, 1}},
                 {.name = "worker/1", .group = 0, .process = 1, .active = true, .calls = {0, 1}}};
  make(std::move(graph));
  all_ready();
  exit(1, {.signal = SIGKILL});
  commands();
  coordinator_->restart_node("worker/1");
  EXPECT_EQ(commands(),
            "start worker/1 2\ntell worker/0: worker/1 2 gone\ntell worker/1: worker/0 1 at endpoint-0\n"
            "tell worker/1: worker/1 2 gone\n");
  ready(1, 2);
  EXPECT_EQ(commands(),
            "tell worker/0: worker/1 2 at endpoint-1\ntell worker/1: worker/1 2 at endpoint-1\nrun worker/1\n");
}

TEST_F(ElasticTest, TheProgramEndsWhenThoseWhoAreThereHaveFinished) {
  make(watcher_and_workers(1));
  all_ready();
  finished(0, 1);
  finished(1, 1);
  exit(2, {.signal = SIGKILL});
  EXPECT_EQ(coordinator_->phase(), Phase::running);
  finished(3, 1);
  EXPECT_EQ(coordinator_->phase(), Phase::stopping);
}

TEST_F(ElasticTest, WhoComesBackIsWaitedForAgain) {
  make(watcher_and_workers(1));
  all_ready();
  exit(2, {.signal = SIGKILL});
  coordinator_->restart_node("worker/1");
  ready(2, 2);
  for (const NodeId node : {0U, 1U, 3U}) finished(node, 1);
  EXPECT_EQ(coordinator_->phase(), Phase::running);
  finished(2, 2);
  EXPECT_EQ(coordinator_->phase(), Phase::stopping);
}

TEST_F(ElasticTest, WhatSharesItsProcessWithOthersIsNotGivenUp) {
  SupervisionGraph graph = watcher_and_workers(1);
  graph.groups[0].on_failure = restart(0);
  graph.nodes[1].process = 0;
  graph.nodes[2].process = 1;
  graph.nodes[3].process = 2;
  make(std::move(graph));
  all_ready();
  exit(0, {.signal = SIGKILL});
  EXPECT_EQ(coordinator_->phase(), Phase::stopping);
}

}  // namespace
}  // namespace lp::launch
