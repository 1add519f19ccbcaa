// What follows from the answers of a run, without a run.

#include "tools/lp/why/diagnosis.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/tools/lp/why/answers.h"

namespace lp::test {
namespace {

using tool::Diagnosis;
using Kind = Diagnosis::Kind;
using For = WaitingThread::For;
using CallState = OpenCall::State;
using State = NodeStatus::State;

TEST(Diagnosis, ConcernsTheNodesOfAllItsChains) {
  Answers run;
  run.run_waits(2, "server", "push", 11);
  run.run_waits(3, "server", "push", 12);
  run.process(1).waits.reset();
  run.process(1).threads = std::vector<launch::ThreadState>{{.id = 1, .state = "T"}};
  const std::vector<Diagnosis> all = run.diagnose();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].kind, Kind::stopped);
  EXPECT_EQ(all[0].waiters, (std::vector<std::string>{"worker/0", "worker/1"}));
  for (const char* node : {"server", "worker/0", "worker/1"}) {
    EXPECT_TRUE(tool::concerns(all[0], run.evidence.plan, {node})) << node;
  }
  for (const char* node : {"log", "worker/2"}) {
    EXPECT_FALSE(tool::concerns(all[0], run.evidence.plan, {node})) << node;
  }
}

TEST(Diagnosis, ASaturatedServiceConcernsItsCallers) {
  const Answers run;
  const Diagnosis saturated{.kind = Kind::saturated, .node = "server"};
  EXPECT_TRUE(tool::concerns(saturated, run.evidence.plan, {"worker/1"}));
  EXPECT_FALSE(tool::concerns(saturated, run.evidence.plan, {"log"}));
}

TEST(Diagnosis, FollowsAChainAcrossProcessesAndHosts) {
  Answers run;
  run.run_waits(2, "server", "push", 11);
  run.run_waits(3, "server", "push", 12);
  run.handler(1, "push", "worker/0", 11, {.state = "S"});
  run.node(1).threads = {
      {.thread = 7, .callee = "log", .method = "append", .call_chain = 11, .chain = 11, .seconds = 4}};
  run.handler(0, "append", "server", 11, {.state = "D", .call = "fsync", .file = "/data/log"});
  const std::vector<Diagnosis> all = run.diagnose();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].kind, Kind::blocked);
  EXPECT_EQ(all[0].node, "log");
  EXPECT_EQ(all[0].waiting, 3U);
  EXPECT_EQ(all[0].text,
            "log.append(), called by server, is blocked outside lp, in fsync() of /data/log, for a device, for 5 s");
  EXPECT_EQ(all[0].chain,
            (std::vector<std::string>{
                "worker/0.run() waits for server.push(), for 5 s, with 25 s left",
                "server.push(), called by worker/0, waits for log.append(), for 4 s",
                "log.append(), called by server, is blocked outside lp, in fsync() of /data/log, for a device"}));
}

TEST(Diagnosis, AWaitThatDoesNotLastIsNone) {
  Answers run;
  run.run_waits(2, "server", "push", 11);
  run.handler(1, "push", "worker/0", 11, {.state = "R"});
  WaitsRecord later = run.sample();
  later.processes[1].waits->nodes.front().turn->chain = 12;
  later.processes[2].waits->nodes.front().threads.front().call_chain = 12;
  run.evidence.samples.push_back(later);
  EXPECT_TRUE(tool::diagnose(run.evidence).empty());
  EXPECT_EQ(run.diagnose().size(), 0U);
}

TEST(Diagnosis, ACircleOfCallsIsADeadlock) {
  Answers run;
  run.handler(1, "push", "worker/0", 5, {.state = "S"});
  run.node(1).threads = {{.thread = 7, .callee = "log", .method = "append", .call_chain = 5, .chain = 5}};
  run.handler(0, "rotate", "", 6, {.state = "S"});
  run.node(0).threads = {{.thread = 7, .callee = "server", .method = "flush", .call_chain = 6, .chain = 6}};
  const std::vector<Diagnosis> all = run.diagnose();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].kind, Kind::deadlock);
}

// a, b and c each wait in run() for a value of the next one, which has returned a Future of it.
struct Knot : Answers {
  Knot() {
    evidence = {};
    evidence.plan.groups = {{.first = 0, .size = 1}, {.first = 1, .size = 1}, {.first = 2, .size = 1}};
    evidence.plan.nodes = {{.name = "a", .group = 0, .calls = {1}},
                           {.name = "b", .group = 1, .calls = {2}},
                           {.name = "c", .group = 2, .calls = {0}}};
    WaitsRecord& sample = evidence.samples.emplace_back();
    for (const PlanNode& node : evidence.plan.nodes) {
      sample.status.nodes.push_back({.name = node.name, .state = State::running, .incarnation = 1});
      sample.processes.push_back({.nodes = {node.name},
                                  .host = "h",
                                  .pid = 100 + static_cast<int>(sample.processes.size()),
                                  .waits = ProcessWaits{.nodes = {{.node = node.name}}},
                                  .threads = std::vector<launch::ThreadState>()});
    }
    for (const std::size_t id : {0U, 1U, 2U}) {
      const std::string callee = evidence.plan.nodes[evidence.plan.nodes[id].calls[0]].name;
      run_waits(id, callee, "value", 11 + id);
      process((id + 1) % 3)
          .waits->calls.push_back({.caller = node(id).node,
                                   .callee = callee,
                                   .method = "value",
                                   .chain = 11 + id,
                                   .state = CallState::open});
    }
  }
};

TEST(Diagnosis, FuturesInACircleAreADeadlock) {
  const std::vector<Diagnosis> all = Knot().diagnose();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].kind, Kind::deadlock);
  EXPECT_EQ(all[0].waiting, 2U);
}

TEST(Diagnosis, AHandlerThatMayBringTheValueLeavesNoDeadlock) {
  Knot run;
  run.handler(1, "compute", "", 20, {.state = "R"});
  const std::vector<Diagnosis> all = run.diagnose();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].kind, Kind::handler);
  EXPECT_EQ(all[0].node, "b");
  EXPECT_EQ(all[0].waiting, 2U);
  EXPECT_EQ(all[0].text, "b.compute(), has not returned, for 5 s: it works");
}

TEST(Diagnosis, ACallerThatWorksMayBringTheValueToo) {
  Knot run;
  for (const char* name : {"d", "e"}) {  // d is in the circle, e works
    const auto id = static_cast<NodeId>(run.evidence.plan.nodes.size());
    run.evidence.plan.groups.push_back({.first = id, .size = 1});
    run.evidence.plan.nodes.push_back({.name = name, .group = id, .calls = {0}});
    run.sample().status.nodes.push_back({.name = name, .state = State::running, .incarnation = 1});
    run.sample().processes.push_back({.nodes = {name},
                                      .host = "h",
                                      .pid = 200 + static_cast<int>(run.sample().processes.size()),
                                      .waits = ProcessWaits{.nodes = {{.node = name}}},
                                      .threads = std::vector<launch::ThreadState>()});
  }
  run.run_waits(3, "b", "value", 14);
  run.process(1).waits->calls.push_back(
      {.caller = "d", .callee = "b", .method = "value", .chain = 14, .state = CallState::open});
  Knot stuck = run;
  run.node(4).run_thread = 1;
  run.process(4).threads->push_back({.id = 1, .state = "R"});
  const std::vector<Diagnosis> all = run.diagnose();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].kind, Kind::missing);
  EXPECT_EQ(all[0].text,
            "a.value() waits for a value that another call must bring, and d, e have not called: e.run() works");
  // A node that waits to be stopped brings nothing.
  stuck.node(4).run_thread = 1;
  stuck.node(4).threads.push_back({.thread = 1, .what = For::time});
  EXPECT_EQ(stuck.diagnose().at(0).kind, Kind::deadlock);
}

TEST(Diagnosis, OneOfSeveralCallsMayEndTheWaitForAFuture) {
  Knot run;
  run.node(0).threads = {{.thread = 1, .what = For::future, .seconds = 5}};
  run.process(0).waits->calls.push_back({.caller = "a", .callee = "c", .method = "sum", .chain = 30, .seconds = 1});
  run.handler(2, "sum", "a", 30, {.state = "R"});
  const std::vector<Diagnosis> all = run.diagnose();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].kind, Kind::handler);
  EXPECT_EQ(all[0].node, "c");
}

TEST(Diagnosis, ARunThatKeepsAValueBackIsNamed) {
  Answers run;
  run.run_waits(2, "server", "value", 11);
  run.process(1).waits->calls.push_back(
      {.caller = "worker/0", .callee = "server", .method = "value", .chain = 11, .state = CallState::open});
  run.evidence.plan.nodes.resize(3);  // no other caller
  run.sample().status.nodes.resize(3);
  run.sample().processes.resize(3);
  run.node(1).run_thread = 1;
  run.process(1).threads->push_back({.id = 1, .state = "R"});
  const std::vector<Diagnosis> all = run.diagnose();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].kind, Kind::missing);
  EXPECT_EQ(all[0].text, "server.value() waits for a value that server itself must bring: server.run() works");
}

TEST(Diagnosis, WaitsThatBeginAnewAreNoDeadlock) {
  Answers run;
  run.evidence.plan.nodes[0].calls = {1};  // log and server send each other one-way calls, and wait for them
  for (const std::size_t id : {0U, 1U}) {
    run.node(id).run_thread = 1;
    run.node(id).threads = {{.thread = 1, .what = For::future, .seconds = 5}};
  }
  run.evidence.plan.nodes.resize(2);
  run.sample().status.nodes.resize(2);
  run.sample().processes.resize(2);
  WaitsRecord later = run.sample();
  later.time += 1;
  EXPECT_EQ(run.diagnose().at(0).kind, Kind::deadlock);
  later.processes[0].waits->nodes[0].threads[0].seconds = 0.001;
  run.evidence.samples = {run.evidence.samples.front(), later};
  EXPECT_TRUE(tool::diagnose(run.evidence).empty());
}

TEST(Diagnosis, ABarrierNamesTheMemberThatHasNotCome) {
  Answers run;
  run.run_waits(2, "server", "meet", 11);
  run.run_waits(3, "server", "meet", 12);
  for (const std::uint64_t chain : {11U, 12U}) {
    run.process(1).waits->calls.push_back({.caller = "worker/" + std::to_string(chain - 11),
                                           .callee = "server",
                                           .method = "meet",
                                           .chain = chain,
                                           .state = CallState::open});
  }
  run.node(4).run_thread = 1;
  run.process(4).threads->push_back({.id = 1, .state = "R"});
  const std::vector<Diagnosis> all = run.diagnose();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].kind, Kind::missing);
  EXPECT_NE(all[0].text.find("worker/2 has not called: worker/2.run() works"), std::string::npos) << all[0].text;
}

TEST(Diagnosis, CallsToANodeWithoutAProcessWaitForItsRestart) {
  Answers run;
  run.run_waits(2, "server", "push", 11);
  run.sample().status.nodes[1] = {.name = "server", .state = State::waiting, .incarnation = 2, .text = "no memory"};
  run.sample().processes.erase(run.sample().processes.begin() + 1);
  const std::vector<Diagnosis> all = run.diagnose();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].kind, Kind::down);
  EXPECT_NE(all[0].text.find("waits for its restart; its last failure: no memory"), std::string::npos) << all[0].text;
}

TEST(Diagnosis, AProcessThatDoesNotAnswerIsStoppedOrCutOff) {
  Answers run;
  run.run_waits(2, "server", "push", 11);
  run.process(1).waits.reset();
  run.process(1).threads = {{.id = 1, .state = "T"}, {.id = 2, .state = "T"}};
  EXPECT_EQ(run.diagnose().at(0).kind, Kind::stopped);
  run.process(1).threads = {{.id = 1, .state = "R"}, {.id = 2, .state = "S"}};
  run.evidence.samples = {run.sample()};
  EXPECT_EQ(run.diagnose().at(0).kind, Kind::silent);
  run.process(1).threads.reset();
  run.evidence.samples = {run.sample()};
  EXPECT_EQ(run.diagnose().at(0).kind, Kind::cut_off);
  EXPECT_NE(run.diagnose().at(0).text.find("its host h2"), std::string::npos);
}

TEST(Diagnosis, AStoppedAgentOfThisHostIsNamedOnce) {
  Answers run;
  run.run_waits(2, "server", "push", 11);
  for (const std::size_t id : {0U, 1U}) {
    run.process(id).host.clear();
    run.process(id).waits.reset();
    run.process(id).threads.reset();
    run.process(id).stopped_agent = 77;
  }
  const std::vector<Diagnosis> all = run.diagnose();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].kind, Kind::stopped);
  EXPECT_EQ(all[0].text,
            "log is not seen, because its agent, process 77 of this host, is stopped by a signal (SIGSTOP or SIGTSTP); "
            "`kill -CONT 77` lets it go on; the same is true of server");
}

TEST(Diagnosis, AHostThatIsCutOffIsNamedOnce) {
  Answers run;
  for (const std::size_t id : {0U, 1U}) {
    run.process(id).host = "h1";
    run.process(id).waits.reset();
    run.process(id).threads.reset();
  }
  run.process(4).host = "h9";
  run.process(4).waits.reset();
  run.process(4).threads.reset();
  run.run_waits(2, "server", "push", 11);
  const std::vector<Diagnosis> all = run.diagnose();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].kind, Kind::cut_off);
  EXPECT_EQ(all[0].waiting, 1U);
  EXPECT_EQ(all[0].text,
            "log does not answer, and neither does the agent of its host h1: the host is cut off, or stands still; the "
            "same is true of server");
  EXPECT_NE(all[1].text.find("worker/2 does not answer"), std::string::npos) << all[1].text;
}

TEST(Diagnosis, AProcessOfSeveralNodesThatIsStoppedIsNamedOnce) {
  Answers run;
  run.sample().processes.erase(run.sample().processes.begin());
  WaitsRecord::Process& both = run.process(0);
  both.nodes = {"log", "server"};
  both.waits.reset();
  both.threads = {{.id = 1, .state = "T"}};
  const std::vector<Diagnosis> all = run.diagnose();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].kind, Kind::stopped);
}

TEST(Diagnosis, ANodeThatHasBeenGivenUpDoesNotWaitForItsRestart) {
  Answers run;
  run.run_waits(2, "server", "push", 11);
  run.sample().status.nodes[1] = {
      .name = "server", .state = State::failed, .incarnation = 2, .text = "no memory", .given_up = true};
  run.sample().processes.erase(run.sample().processes.begin() + 1);
  const std::vector<Diagnosis> all = run.diagnose();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].kind, Kind::down);
  EXPECT_EQ(all[0].text, "server has been given up: the program goes on without it; its last failure: no memory");
}

// One look of many: `working` nodes have their run() on a processor, the others wait for the server.
WaitsRecord look(Answers run, const std::vector<std::size_t>& working, bool busy) {
  if (busy) run.handler(1, "push", "worker/0", 2, {.state = "R"});
  for (const std::size_t worker : {2U, 3U, 4U}) {
    if (std::find(working.begin(), working.end(), worker) == working.end()) {
      run.run_waits(worker, "server", "push", worker);
    } else {
      run.node(worker).run_thread = 1;
      run.process(worker).threads->push_back({.id = 1, .state = "R"});
    }
  }
  return run.sample();
}

MeasureRecord measured(double time, std::uint64_t step) {
  MeasureRecord record{.time = time};
  for (const char* name : {"log", "server", "worker/0", "worker/1", "worker/2"}) {
    record.status.nodes.push_back({.name = name, .state = State::running, .incarnation = 1, .step = step});
  }
  return record;
}

TEST(Diagnosis, ACheckpointThatCannotBeSavedIsNamed) {
  Answers run;
  EXPECT_EQ(tool::diagnose(run.evidence).size(), 0U);
  run.sample().status.unsaved = "server could not save its part of the checkpoint of step 7: the disk is full";
  const std::vector<Diagnosis> all = tool::diagnose(run.evidence);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].kind, Kind::unsaved);
  EXPECT_EQ(all[0].text, run.sample().status.unsaved);
}

TEST(Diagnosis, AReplicaThatWorksWhileTheOthersWaitIsAStraggler) {
  Answers run;
  run.evidence.samples.clear();
  for (int i = 0; i < 20; ++i)
    run.evidence.samples.push_back(
        look(Answers(), i % 5 == 0 ? std::vector<std::size_t>{2, 3, 4} : std::vector<std::size_t>{4}, /*busy=*/false));
  run.evidence.before = measured(10, 100);
  run.evidence.after = measured(11, 150);
  const std::vector<Diagnosis> all = tool::diagnose_load(run.evidence);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].kind, Kind::straggler);
  EXPECT_EQ(
      all[0].text,
      "worker/2 is a straggler: a step takes it 5.0 times as long as the other 2 of its group; it works for 100 % of "
      "the time");
}

// Workers that work at every fourth look, for two seconds; worker/2 makes so many calls, and the others 1700.
Answers with_calls_of_last(std::uint64_t calls_of_last) {
  Answers run;
  run.evidence.samples.clear();
  for (std::size_t i = 0; i < 20; ++i)
    run.evidence.samples.push_back(
        look(Answers(), i % 4 == 0 ? std::vector<std::size_t>{2, 3, 4} : std::vector<std::size_t>(), /*busy=*/false));
  run.evidence.before = measured(10, 0);
  run.evidence.after = measured(12, 0);
  for (const std::uint64_t worker : {0U, 1U, 2U}) {
    MeasureRecord::Calls calls{
        .caller = "worker/" + std::to_string(worker), .callee = "server", .method = "push", .calls = 5000};
    run.evidence.before.calls.push_back(calls);
    calls.calls += worker == 2 ? calls_of_last : 1700;
    run.evidence.after.calls.push_back(calls);
  }
  return run;
}

TEST(Diagnosis, AReplicaThatMakesFewerCallsIsAStraggler) {
  Answers run = with_calls_of_last(100);
  const std::vector<Diagnosis> all = tool::diagnose_load(run.evidence);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].kind, Kind::straggler);
  EXPECT_EQ(all[0].text,
            "worker/2 is a straggler: a call, with the work for it, takes it 17 times as long as the other 2 of its "
            "group; it makes 50 calls a second, and the median of them 850");
  // One that sleeps by its own choice is none.
  for (WaitsRecord& sample : run.evidence.samples) {
    sample.processes[4].waits->nodes.front().run_thread = 1;
    sample.processes[4].waits->nodes.front().threads = {{.thread = 1, .what = For::time, .left = 1.0}};
  }
  EXPECT_TRUE(tool::diagnose_load(run.evidence).empty());
}

TEST(Diagnosis, AReplicaThatIsSlowForAMomentIsNoStraggler) {
  const tool::Evidence slow = with_calls_of_last(100).evidence;
  const tool::Evidence usual = with_calls_of_last(1600).evidence;
  const std::vector<Diagnosis> first = tool::diagnose_load(slow);
  ASSERT_EQ(first.size(), 1U);
  int looks = 0;
  std::vector<Diagnosis> found = first;
  tool::keep_lasting_stragglers(found, slow, [&] { return ++looks, usual; });
  EXPECT_TRUE(found.empty());
  EXPECT_EQ(looks, 1);
  found = first;
  tool::keep_lasting_stragglers(found, slow, [&] { return ++looks, slow; });
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].text, first[0].text);
  EXPECT_EQ(looks, 2);
  found.clear();
  tool::keep_lasting_stragglers(found, usual, [&] { return ++looks, slow; });
  EXPECT_TRUE(found.empty());
  EXPECT_EQ(looks, 2);
}

TEST(Diagnosis, AServiceThatAlwaysWorksWithAQueueIsSaturated) {
  Answers run;
  run.evidence.samples.clear();
  for (int i = 0; i < 10; ++i) run.evidence.samples.push_back(look(Answers(), {}, /*busy=*/true));
  run.evidence.before = measured(10, 100);
  run.evidence.after = measured(11, 150);
  const std::vector<Diagnosis> all = tool::diagnose_load(run.evidence);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].kind, Kind::saturated);
  EXPECT_EQ(all[0].text, "server is saturated: it works for 100 % of the time, and 2.0 calls wait for it on average");
}

}  // namespace
}  // namespace lp::test
