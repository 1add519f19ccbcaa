// The nodes that are expected to bring a value for which a Future waits.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "launchers/observation/wait_graph.h"
#include "tests/tools/lp/why/answers.h"
#include "tools/lp/why/diagnosis.h"

namespace lp::test {
namespace {

// All workers have come to the server, and an evaluator is another caller of it.
struct Evaluated : Answers {
  Evaluated() {
    const auto id = static_cast<NodeId>(evidence.plan.nodes.size());
    evidence.plan.groups.push_back({.first = id, .size = 1});
    evidence.plan.nodes.push_back({.name = "evaluator", .group = 3, .calls = {1}});
    sample().status.nodes.push_back({.name = "evaluator", .state = NodeStatus::State::running, .incarnation = 1});
    sample().processes.push_back({.nodes = {"evaluator"},
                                  .host = "h9",
                                  .pid = 109,
                                  .waits = ProcessWaits{.nodes = {{.node = "evaluator", .run_thread = 1}}},
                                  .threads = std::vector<launch::ThreadState>{{.id = 1, .state = "R"}}});
    for (const std::size_t worker : {2U, 3U, 4U}) {
      run_waits(worker, "server", "push", 9 + worker);
      returned(worker);
    }
  }
  void returned(std::size_t worker) {
    process(1).waits->calls.push_back({.caller = node(worker).node,
                                       .callee = "server",
                                       .method = "push",
                                       .chain = 9 + worker,
                                       .state = OpenCall::State::open});
  }
  void evaluator_sleeps() {
    node(5).threads = {{.thread = 1, .what = WaitingThread::For::time, .seconds = 5, .left = 20.0}};
  }
  // The activity for which the push of worker/0 waits; null: it is not known.
  const launch::Activity* next_of_push(launch::WaitGraph& graph) {
    graph = launch::wait_graph(evidence.plan, sample());
    for (const launch::Activity& one : graph.activities) {
      if (one.work != "push()" || one.caller != "worker/0") continue;
      EXPECT_TRUE(one.next.has_value() || one.lacks_value);
      return one.next.has_value() ? &graph.activities[*one.next] : nullptr;
    }
    ADD_FAILURE() << "there is no push";
    return nullptr;
  }
};

TEST(MissingValue, ACallerThatSleepsIsNotExpectedToBringAValue) {
  Evaluated run;
  launch::WaitGraph graph;
  ASSERT_NE(run.next_of_push(graph), nullptr);
  EXPECT_EQ(run.next_of_push(graph)->node, "evaluator");
  run.evaluator_sleeps();
  EXPECT_EQ(run.next_of_push(graph), nullptr);
  const std::vector<tool::Diagnosis> all = run.diagnose();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].kind, tool::Diagnosis::Kind::missing);
  EXPECT_EQ(all[0].text, "server.push() waits for a value that another call must bring, and evaluator has not called");
}

TEST(MissingValue, ACallOfAMateThatIsOnItsWayBringsTheValue) {
  Evaluated run;
  launch::WaitGraph graph;
  run.process(1).waits->calls.pop_back();  // worker/2 has called, and its call waits
  EXPECT_EQ(run.next_of_push(graph), nullptr);
  run.handler(1, "push", "worker/2", 13, {.state = "R"});
  ASSERT_NE(run.next_of_push(graph), nullptr);
  EXPECT_EQ(run.next_of_push(graph)->node, "server");
  EXPECT_EQ(run.next_of_push(graph)->caller, "worker/2");
}

TEST(MissingValue, AMateThatSleepsIsStillExpected) {
  Evaluated run;
  launch::WaitGraph graph;
  run.process(1).waits->calls.pop_back();
  run.process(4).waits->calls.clear();
  run.node(4).threads = {{.thread = 1, .what = WaitingThread::For::time, .seconds = 5, .left = 20.0}};
  ASSERT_NE(run.next_of_push(graph), nullptr);
  EXPECT_EQ(run.next_of_push(graph)->node, "worker/2");
}

}  // namespace
}  // namespace lp::test
