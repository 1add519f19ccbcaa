// What follows from the answers of a run, without a run.

#include "tools/lp/why/diagnosis.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace lp::test {
namespace {

using tool::Diagnosis;
using tool::Evidence;
using Kind = Diagnosis::Kind;
using For = WaitingThread::For;
using CallState = OpenCall::State;
using State = NodeStatus::State;

// worker/0, worker/1, worker/2 ──▶ server ──▶ log, a process each.
struct Answers {
  Evidence evidence{};

  Answers() {
    Plan& plan = evidence.plan;
    plan.groups = {{.first = 0, .size = 1}, {.first = 1, .size = 1}, {.first = 2, .size = 3}};
    plan.nodes = {{.name = "log", .group = 0},
                  {.name = "server", .group = 1, .calls = {0}},
                  {.name = "worker/0", .group = 2, .calls = {1}},
                  {.name = "worker/1", .group = 2, .calls = {1}},
                  {.name = "worker/2", .group = 2, .calls = {1}}};
    WaitsRecord& sample = evidence.samples.emplace_back();
    int pid = 100;
    for (const PlanNode& node : plan.nodes) {
      sample.status.nodes.push_back({.name = node.name, .state = State::running, .incarnation = 1});
      sample.processes.push_back({.nodes = {node.name},
                                  .host = "h" + std::to_string(pid - 99),
                                  .pid = pid,
                                  .waits = ProcessWaits{.nodes = {{.node = node.name}}},
                                  .threads = std::vector<launch::ThreadState>()});
      ++pid;
    }
  }

  WaitsRecord& sample() { return evidence.samples.back(); }
  WaitsRecord::Process& process(std::size_t node) { return sample().processes[node]; }
  NodeWaits& node(std::size_t node) { return process(node).waits->nodes.front(); }

  // The node's run() is in this thread, which waits for a call.
  void run_waits(std::size_t id, const std::string& callee, const std::string& method, std::uint64_t chain) {
    node(id).run_thread = 1;
    node(id).threads.push_back(
        {.thread = 1, .callee = callee, .method = method, .call_chain = chain, .seconds = 5, .left = 25.0});
    process(id).waits->calls.push_back({.caller = node(id).node, .callee = callee, .method = method, .chain = chain});
  }
  // A handler has the turn, in thread 7, which is in this state.
  void handler(std::size_t id, const std::string& work, const std::string& caller, std::uint64_t chain,
               launch::ThreadState state) {
    node(id).turn = {.work = work, .caller = caller, .chain = chain, .thread = 7, .seconds = 5};
    state.id = 7;
    process(id).threads->push_back(std::move(state));
  }

  std::vector<Diagnosis> diagnose() {
    evidence.samples.push_back(evidence.samples.back());
    return tool::diagnose(evidence);
  }
};

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
