// Services that are saved in cuts: the services that go back with a failed one, and the work that is done again.

#include <gtest/gtest.h>

#include "tests/launchers/supervisor/coordinator_fixture.h"

namespace lp::launch {
namespace {

using std::chrono::milliseconds;

SupervisionGraph saving_servers() {
  SupervisionGraph graph;
  graph.groups = {{.name = "server", .on_failure = restart(3)}, {.name = "worker", .on_failure = restart(3)}};
  graph.nodes = {{.name = "server/0", .group = 0, .process = 0, .member = true},
                 {.name = "server/1", .group = 0, .process = 1, .member = true},
                 {.name = "worker", .group = 1, .process = 2, .active = true, .calls = {0, 1}}};
  return graph;
}

TEST_F(CoordinatorTest, MembersOfACutAreRestoredTogetherAndOthersRunOn) {
  make(saving_servers());
  all_ready();
  saved(0, 1, 10);
  saved(1, 1, 10);
  saved(0, 1, 20);  // not complete
  EXPECT_EQ(commands(),
            "may save server/0\nend cut server/0 complete 10\nend cut server/1 complete 10\nmay save server/1\n"
            "may save server/0\n");
  exit(0, {.signal = 9});
  EXPECT_EQ(commands(), "kill server/1\ntell worker: server/0 1 down\ntell worker: server/1 1 down\n");
  pass(milliseconds(100));
  EXPECT_EQ(executor_->take(), "");  // the other one is still there
  exit(1, {.signal = 9});
  EXPECT_EQ(commands().substr(0, 58), "start server/0 2 from cut-10\nstart server/1 2 from cut-10\n");
  EXPECT_EQ(coordinator_->status().nodes[1].restarts, 0);
  EXPECT_EQ(coordinator_->status().cut, 10u);
}

TEST_F(CoordinatorTest, MembersLearnThatACutWillNeverBeComplete) {
  make(saving_servers());
  all_ready();
  saved(0, 1, 10);
  commands();
  report(1, 1, NodeEvent::NotSaved{10, "the disk is full"});
  EXPECT_EQ(commands().substr(0, 57), "end cut server/0 given up 10\nend cut server/1 given up 10");
}

TEST_F(CoordinatorTest, WhoHadFinishedWithMembersWorksAgainWhenTheyGoBack) {
  for (const bool exited : {false, true}) {
    SupervisionGraph graph = saving_servers();
    graph.nodes.push_back({.name = "other", .group = 1, .process = 3, .active = true, .calls = {0, 1}});
    make(graph);
    now_ = {};
    all_ready();
    finished(2, 1);
    if (exited) exit(2);
    commands();
    exit(0, {.signal = 9});
    if (!exited) {
      EXPECT_NE(commands().find("kill worker\n"), std::string::npos);
      exit(2, {.signal = 9});
    }
    EXPECT_NE(commands().find("start worker 2"), std::string::npos);
    exit(1, {.signal = 9});
    pass(milliseconds(100));
    for (const NodeId node : {0u, 1u, 2u}) ready(node, 2);
    EXPECT_NE(commands().find("run worker\n"), std::string::npos);
    finished(3, 1);
    EXPECT_EQ(coordinator_->phase(), Phase::running);  // the other one is at work again
    finished(2, 2);
    EXPECT_EQ(coordinator_->phase(), Phase::stopping);
  }
}

// What it did with an incarnation that is gone is lost, also when it finishes after the new one has begun.
TEST_F(CoordinatorTest, WhoFinishesWithAMemberThatWentBackAfterItsLastAnswerWorksAgain) {
  for (const bool restored : {false, true}) {
    make(saving_servers());
    now_ = {};
    all_ready();
    exit(0, {.signal = 9});
    exit(1, {.signal = 9});
    const auto restore = [this] {
      pass(milliseconds(100));
      for (const NodeId server : {0U, 1U}) ready(server, 2);
    };
    if (restored) restore();
    commands();
    const std::uint32_t first = restored ? 2 : 1;
    report(2, 1, NodeEvent::Finished{{{.callee = 0, .incarnation = first}, {.callee = 1, .incarnation = 1}}});
    EXPECT_NE(commands().find("kill worker\n"), std::string::npos);
    EXPECT_EQ(coordinator_->phase(), Phase::running);
    exit(2, {.signal = 9});
    EXPECT_NE(commands().find("start worker 2"), std::string::npos);
    if (!restored) restore();
    ready(2, 2);
    report(2, 2, NodeEvent::Finished{{{.callee = 0, .incarnation = 2}, {.callee = 1, .incarnation = 2}}});
    EXPECT_EQ(coordinator_->phase(), Phase::stopping);
  }
}

TEST_F(CoordinatorTest, AReportOfWhatHasGoneBackIsMadeAgain) {
  make(saving_servers(), {.report = true});
  all_ready();
  finished(2, 1);
  EXPECT_EQ(coordinator_->phase(), Phase::reporting);
  EXPECT_EQ(listener_.reports, 1);
  exit(0, {.signal = 9});
  EXPECT_EQ(coordinator_->phase(), Phase::running);
  exit(1, {.signal = 9});
  exit(2, {.signal = 9});
  pass(milliseconds(100));
  for (const NodeId node : {0u, 1u, 2u}) ready(node, 2);
  finished(2, 2);
  EXPECT_EQ(coordinator_->phase(), Phase::reporting);
  EXPECT_EQ(listener_.reports, 1) << "the first has not ended";
  coordinator_->report_done("one server is at step 10 and another at step 20");
  EXPECT_EQ(listener_.reports, 2);
  coordinator_->report_done(std::nullopt);
  EXPECT_EQ(coordinator_->phase(), Phase::stopping);
  for (const std::size_t process : {0u, 1u, 2u}) exit(process, {}, 2);
  EXPECT_TRUE(coordinator_->result().success) << coordinator_->result().cause.text();
}

TEST_F(CoordinatorTest, AProgramThatANodeHasStoppedIsOverAlsoWhenServicesGoBack) {
  make(saving_servers(), {.report = true});
  all_ready();
  stop_requested(2, 1, "enough");
  finished(2, 1);
  exit(0, {.signal = 9});
  EXPECT_EQ(coordinator_->phase(), Phase::reporting);
  coordinator_->report_done("disconnected");
  EXPECT_EQ(listener_.reports, 2);
}

TEST_F(CoordinatorTest, AServiceThatIsKilledOnceTheWorkIsDoneAndReportedLosesNothing) {
  make(saving_servers(), {.report = true});
  all_ready();
  for (const NodeId server : {0U, 1U}) saved(server, 1, 10);
  finished(2, 1);
  coordinator_->report_done(std::nullopt);
  ASSERT_EQ(coordinator_->phase(), Phase::stopping);
  exit(0, {.signal = 9});
  EXPECT_EQ(listener_.logged.back(),
            "server/0: was killed by signal 9 (SIGKILL) while the program stopped; its work was already done");
  exit(1);
  exit(2);
  EXPECT_TRUE(coordinator_->result().success) << coordinator_->result().cause.what;
}

TEST_F(CoordinatorTest, AServiceThatIsKilledAtTheEndFailsTheRunWhileACutWaitsForIt) {
  make(saving_servers());
  all_ready();
  saved(1, 1, 10);
  finished(2, 1);
  ASSERT_EQ(coordinator_->phase(), Phase::stopping);
  exit(0, {.signal = 9});
  EXPECT_EQ(coordinator_->result().cause.what, "was killed by signal 9 (SIGKILL) while the program stopped");
}

TEST_F(CoordinatorTest, ANodeThatIsKilledAtTheEndBeforeItsOwnWorkIsDoneFailsTheRun) {
  SupervisionGraph graph = saving_servers();
  graph.groups[1].ends_program = true;
  graph.groups.push_back({.name = "evaluator", .on_failure = restart(3)});
  graph.nodes.push_back({.name = "evaluator", .group = 2, .process = 3, .active = true});
  make(graph);
  all_ready();
  finished(2, 1);
  ASSERT_EQ(coordinator_->phase(), Phase::stopping);
  exit(3, {.signal = 9});
  EXPECT_EQ(coordinator_->result().cause.node, "evaluator");
}

TEST_F(CoordinatorTest, WithoutACutMembersBeginAgain) {
  make(saving_servers());
  all_ready();
  saved(0, 1, 10);
  exit(0, {.signal = 9});
  exit(1, {.signal = 9});
  executor_->take();
  pass(milliseconds(100));
  EXPECT_EQ(executor_->take().substr(0, 34), "start server/0 2\nstart server/1 2\n");
}

TEST_F(CoordinatorTest, WhatAnEarlierIncarnationSavedDoesNotCount) {
  make(saving_servers());
  all_ready();
  saved(0, 1, 10);
  exit(0, {.signal = 9});
  exit(1, {.signal = 9});
  pass(milliseconds(100));
  ready(0, 2);
  ready(1, 2);
  saved(1, 2, 10);
  EXPECT_EQ(coordinator_->status().cut, 0u);
  saved(0, 2, 10);
  EXPECT_EQ(coordinator_->status().cut, 10u);
}

TEST_F(CoordinatorTest, ACutThatAMemberPassesByIsGivenUpAndPeopleAreToldOnce) {
  make(saving_servers());
  all_ready();
  for (const std::uint64_t step : {2U, 4U}) {
    saved(0, 1, step);
    saved(1, 1, step + 1);
  }
  EXPECT_EQ(listener_.given_up, (std::vector<std::uint64_t>{2, 3, 4}));
  EXPECT_EQ(std::count(listener_.logged.begin(), listener_.logged.end(),
                       "the checkpoint of step 2 is abandoned, because server/1 has saved step 3 and not this one: "
                       "nodes that save must call checkpoint() at the same steps"),
            1);
  EXPECT_EQ(listener_.logged.size(), 1U);
  saved(0, 1, 5);  // one that both have
  EXPECT_EQ(coordinator_->status().cut, 5U);
}

TEST_F(CoordinatorTest, ACutIsNotGivenUpForAMemberThatIsDoneWithout) {
  SupervisionGraph graph = saving_servers();
  graph.groups[0].on_failure = ignore();
  graph.nodes.push_back({.name = "server/2", .group = 0, .process = 3, .member = true});
  make(graph);
  all_ready();
  for (const std::uint64_t step : {3U, 5U}) saved(0, 1, step);
  exit(0, {.signal = 9});
  for (const std::uint64_t step : {3U, 4U}) saved(1, 1, step);
  EXPECT_TRUE(listener_.given_up.empty());
  saved(3, 1, 3);
  EXPECT_EQ(coordinator_->status().cut, 3U);
}

TEST_F(CoordinatorTest, AMemberThatIsAheadWithItsCutsIsWaitedFor) {
  make(saving_servers());
  all_ready();
  for (const std::uint64_t step : {1U, 2U, 3U}) saved(0, 1, step);
  for (const std::uint64_t step : {1U, 2U}) saved(1, 1, step);
  EXPECT_TRUE(listener_.given_up.empty());
  EXPECT_EQ(coordinator_->status().cut, 2U);
}

TEST_F(CoordinatorTest, ACutThatCannotBeKeptLeavesTheEarlierOne) {
  make(saving_servers());
  all_ready();
  saved(0, 1, 10);
  saved(1, 1, 10);
  listener_.disk_full = true;
  saved(0, 1, 20);
  saved(1, 1, 20);
  EXPECT_EQ(coordinator_->status().cut, 10u);
}

TEST_F(CoordinatorTest, AFullDiskIsSaidOnceAndNothingStaysOfItsCuts) {
  make(saving_servers());
  all_ready();
  const std::string full = "no space left on device";
  saved(0, 1, 10);
  not_saved(1, 1, 10, full);
  for (const NodeId node : {0U, 1U}) not_saved(node, 1, 20, full);
  not_saved(1, 1, 30, full);
  saved(0, 1, 30);  // after the other's failure
  EXPECT_EQ(
      listener_.logged,
      (std::vector<std::string>{
          "server/1 could not save its part of the checkpoint of step 10, and the checkpoint before it is kept: no "
          "space left on device; further failures are not reported until one is complete"}));
  EXPECT_EQ(listener_.given_up, (std::vector<std::uint64_t>{10, 20, 20, 30, 30}));
  listener_.disk_full = true;  // for the manifest
  for (const NodeId node : {0U, 1U}) saved(node, 1, 40);
  EXPECT_EQ(listener_.logged.size(), 1U);
  EXPECT_EQ(listener_.given_up.back(), 40U);
  listener_.disk_full = false;
  for (const NodeId node : {0U, 1U}) saved(node, 1, 50);
  EXPECT_EQ(listener_.logged.back(), "the checkpoint of step 50 is complete again");
  EXPECT_EQ(coordinator_->status().cut, 50U);
}

TEST_F(CoordinatorTest, AStepThatCouldNotBeSavedIsSavedWhenItIsDoneAgain) {
  make(saving_servers());
  all_ready();
  not_saved(0, 1, 10, "no space left on device");
  for (const std::size_t process : {0U, 1U}) exit(process, {.signal = 9});
  pass(milliseconds(100));
  for (const NodeId node : {0U, 1U}) ready(node, 2);
  for (const NodeId node : {0U, 1U}) saved(node, 2, 10);
  EXPECT_EQ(coordinator_->status().cut, 10U);
}

TEST_F(CoordinatorTest, AResumedRunStartsFromItsCut) {
  make(saving_servers());
  start({.step = 7, .path = "old", .members = {0, 1}});
  EXPECT_EQ(commands(), "start server/0 1 from old\nstart server/1 1 from old\nstart worker 1\n");
}

TEST_F(CoordinatorTest, ARestartThatLosesWorkNoCutHasIsRefusedUnlessItIsForced) {
  make(saving_servers());
  all_ready();
  const auto refusal_of = [this](const std::string& name) {
    try {
      return coordinator_->restart_node(name);
    } catch (const Error& error) {
      return error.text();
    }
  };
  const auto lost = [](const std::string& work) {
    return " cannot be restarted: there is no complete checkpoint, so that server/0, server/1 would start from the "
           "beginning, and " +
           work + " would be lost; --force restarts them nevertheless";
  };
  EXPECT_EQ(refusal_of("server/1"), "server/1" + lost("their work")) << "nothing has reported its progress";
  report(2, 1, Progress{.step = 0});
  report(2, 1, Progress{.step = 8163});
  EXPECT_EQ(refusal_of("server/1"), "server/1" + lost("the work of 8163 steps"));
  EXPECT_EQ(refusal_of("server"), "server/0, server/1" + lost("the work of 8163 steps"));
  EXPECT_EQ(commands(), "");
  EXPECT_EQ(coordinator_->restart_node("worker"), "worker is restarted") << "it is in no cut";
  EXPECT_EQ(coordinator_->restart_node("server/1", /*force=*/true), "server/1 is restarted from the beginning");
  EXPECT_NE(commands().find("kill server/0\nkill server/1\n"), std::string::npos);
}

TEST_F(CoordinatorTest, ARestartThatLosesNothingIsNotRefused) {
  make(saving_servers());
  all_ready();
  report(2, 1, Progress{.step = 0});
  EXPECT_EQ(coordinator_->restart_node("server/1"), "server/1 is restarted from the beginning");
  make(saving_servers());
  all_ready();
  report(2, 1, Progress{.step = 12});
  for (const NodeId node : {0U, 1U}) saved(node, 1, 10);
  EXPECT_EQ(coordinator_->restart_node("server/1"), "server/1 is restarted from the checkpoint of step 10");
}

// Three servers of which one is enough.
class ElasticCutTest : public CoordinatorTest {
 protected:
  void begin(FailurePolicy policy = restart(0)) {
    SupervisionGraph graph;
    graph.groups = {{.name = "server", .on_failure = policy, .replicas = "1..3", .elastic = true, .least = 1}};
    for (const NodeId node : {0U, 1U, 2U}) {
      graph.nodes.push_back({.name = "server/" + std::to_string(node), .group = 0, .process = node, .member = true});
    }
    make(graph);
    all_ready();
  }
  void save(std::uint64_t step, const std::vector<NodeId>& nodes) {
    for (const NodeId node : nodes) {
      saved(node, coordinator_->status().nodes[node].incarnation, step);
    }
    commands();
  }
  std::uint64_t cut() const { return coordinator_->status().cut; }
};

TEST_F(ElasticCutTest, WhoLeavesIsNotInTheCutThatTheOthersHaveSaved) {
  begin();
  save(10, {0, 1});
  EXPECT_EQ(cut(), 0u);
  exit(2, {.signal = 9});
  EXPECT_EQ(cut(), 10u);
  save(20, {0, 1});
  EXPECT_EQ(cut(), 20u);
}

TEST_F(ElasticCutTest, WhoComesLateStartsFromNothingAndIsInTheCutsFromItsFirst) {
  begin();
  save(10, {0, 1, 2});
  exit(2, {.signal = 9});
  commands();
  EXPECT_EQ(coordinator_->restart_node("server/2"), "server/2 is restarted");
  EXPECT_EQ(commands(), "start server/2 2\n");
  save(20, {0, 1});
  EXPECT_EQ(cut(), 20u);
  ready(2, 2);
  save(30, {0, 1});
  EXPECT_EQ(cut(), 20u);
  save(40, {2});
  EXPECT_EQ(cut(), 30u);
  save(40, {0});
  EXPECT_EQ(cut(), 30u);
  save(40, {1});
  EXPECT_EQ(cut(), 40u);
  EXPECT_TRUE(listener_.given_up.empty());
}

TEST_F(ElasticCutTest, WhoIsNotInTheCutStartsFromNothingWhenAllGoBackToIt) {
  begin();
  exit(2, {.signal = 9});
  save(10, {0, 1});
  coordinator_->restart_node("server/2");
  ready(2, 2);
  coordinator_->restart_node("server/0");
  EXPECT_EQ(commands(), "start server/2 2\nkill server/0\nkill server/1\nkill server/2\n");
  for (const std::size_t process : {0u, 1u}) exit(process, {.signal = 9});
  exit(2, {.signal = 9}, 2);
  EXPECT_EQ(commands(), "start server/0 2 from cut-10\nstart server/1 2 from cut-10\nstart server/2 3\n");
}

TEST_F(ElasticCutTest, AGroupGoesBackTogetherAndWithItWhoWasGivenUp) {
  begin();
  save(10, {0, 1, 2});
  exit(2, {.signal = 9});
  EXPECT_TRUE(coordinator_->status().nodes[2].given_up);
  commands();
  EXPECT_EQ(coordinator_->restart_node("server"),
            "server/2 is restarted; server/0, server/1 are restarted from the checkpoint of step 10");
  EXPECT_EQ(commands(), "kill server/0\nkill server/1\n");
  exit(0, {.signal = 9});
  exit(1, {.signal = 9});
  EXPECT_EQ(commands(), "start server/0 2 from cut-10\nstart server/1 2 from cut-10\nstart server/2 2 from cut-10\n");
}

TEST_F(ElasticCutTest, WhoHasNoPlaceIsLeftOutWhenAllGoBack) {
  begin(restart(1));
  save(10, {0, 1, 2});
  exit(0, {.signal = 9});
  for (const std::size_t process : {1u, 2u}) exit(process, {.signal = 9});
  executor_->slots = 2;
  executor_->release(0);  // with its host
  commands();
  pass(milliseconds(100));
  EXPECT_EQ(executor_->take(), "start server/1 2 from cut-10\nstart server/2 2 from cut-10\n");
  EXPECT_EQ(coordinator_->status().nodes[0].state, NodeStatus::State::absent);
}

TEST_F(ElasticCutTest, WhoComesWhileAllGoBackGoesWithThem) {
  begin();
  save(10, {0, 1, 2});
  exit(2, {.signal = 9});
  coordinator_->restart_node("server/0");
  exit(0, {.signal = 9});
  commands();
  coordinator_->restart_node("server/2");
  EXPECT_EQ(commands(), "");
  exit(1, {.signal = 9});
  EXPECT_EQ(commands(), "start server/0 2 from cut-10\nstart server/1 2 from cut-10\nstart server/2 2 from cut-10\n");
}

TEST_F(CoordinatorTest, NodesThatGoBackWithAnotherAreNotedAsRestarted) {
  make(saving_servers());
  all_ready();
  exit(0, {.signal = 9});
  std::string text;
  for (const RunEvent& event : listener_.events) {
    if (event.kind == RunEvent::Kind::restarting) text += event.node + ": " + event.text + "\n";
  }
  EXPECT_TRUE(text.starts_with("server/0: restart 1 of ")) << text;
  EXPECT_TRUE(text.ends_with("\nserver/1: together with server/0 from the beginning\n")) << text;
}

}  // namespace
}  // namespace lp::launch
