// lp why names nodes that could run and get no processor.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tools/lp/why/answers.h"
#include "tools/lp/why/diagnosis.h"

namespace lp::test {
namespace {

using tool::Diagnosis;
using Kind = Diagnosis::Kind;

// A run in whose second look, a second later, a thread of each of these nodes has waited so long for a processor, and
// had one for 10 ms.
Answers starved_run(const std::vector<std::size_t>& nodes, double seconds) {
  Answers run;
  for (const std::size_t id : nodes) {
    run.process(id).host = "h7";
    run.process(id).threads = {{.id = 7, .state = "R", .ran = 1, .starved = 3}, {.id = 8, .state = "S", .starved = 2}};
  }
  run.evidence.samples.push_back(run.sample());
  run.sample().time += 1;
  for (const std::size_t id : nodes) {
    run.process(id).threads->front().starved += seconds;
    run.process(id).threads->front().ran += 0.01;
    run.process(id).threads->push_back({.id = 9, .state = "S", .starved = 5});  // is new
  }
  return run;
}

TEST(Diagnosis, ANodeWithoutAProcessorIsStarved) {
  const std::vector<Diagnosis> all = tool::diagnose(starved_run({1}, 0.95).evidence);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].kind, Kind::starved);
  EXPECT_EQ(all[0].node, "server");
  EXPECT_EQ(all[0].text,
            "server lacks a processor of host h7: a thread that could run waits for one, for 95 % of the time. A limit "
            "of its control group, or other work on the host, takes it");
}

TEST(Diagnosis, AThreadThatGetsItsShareOfAProcessorIsNotStarved) {
  EXPECT_TRUE(tool::diagnose_starved(starved_run({1}, 0.2).evidence).empty());
  Answers half = starved_run({1}, 0.5);
  EXPECT_FALSE(tool::diagnose_starved(half.evidence).empty());
  half.process(1).threads->front().ran += 0.4;
  EXPECT_TRUE(tool::diagnose_starved(half.evidence).empty());
}

TEST(Diagnosis, AThreadThatHasNoTurnAtAllIsStarved) {
  Answers run = starved_run({1}, 0);
  run.process(1).threads->front().ran = 1;
  const std::vector<Diagnosis> all = tool::diagnose_starved(run.evidence);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_NE(all[0].text.find("for 100 % of the time"), std::string::npos) << all[0].text;
  run.process(1).threads->front().state = "S";
  EXPECT_TRUE(tool::diagnose_starved(run.evidence).empty());
}

TEST(Diagnosis, AHostWithTooFewProcessorsIsNamedOnce) {
  const Answers run = starved_run({2, 3, 4}, 0.92);
  const std::vector<Diagnosis> all = tool::diagnose_starved(run.evidence);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].text.find("worker/0, worker/1, worker/2 lack a processor of host h7: "), 0U) << all[0].text;
  EXPECT_NE(all[0].text.find("for at least 92 % of the time"), std::string::npos) << all[0].text;
  EXPECT_TRUE(tool::concerns(all[0], run.evidence.plan, {"worker/2"}));
  EXPECT_FALSE(tool::concerns(all[0], run.evidence.plan, {"log"}));
}

// Nodes in threads of the launcher share its threads, which the first answer has.
TEST(Diagnosis, NodesInThreadsAreStarvedByTheirOwnThreadsOrAllAre) {
  Answers run = starved_run({0}, 0.95);
  for (WaitsRecord& sample : run.evidence.samples) {
    for (WaitsRecord::Process& process : sample.processes) {
      process.host.clear();
      process.pid = 0;
    }
  }
  std::vector<Diagnosis> all = tool::diagnose_starved(run.evidence);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].waiters, (std::vector<std::string>{"log", "server", "worker/0", "worker/1", "worker/2"}));
  for (WaitsRecord& sample : run.evidence.samples) sample.processes[2].waits->nodes.front().run_thread = 7;
  all = tool::diagnose_starved(run.evidence);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].waiters, std::vector<std::string>{"worker/0"});
  EXPECT_EQ(all[0].text.find("worker/0 lacks a processor of this host"), 0U) << all[0].text;
}

TEST(Diagnosis, AProcessBesideNodesInThreadsIsStarvedByItself) {
  Answers run = starved_run({0, 4}, 0.95);
  for (WaitsRecord& sample : run.evidence.samples) {
    for (WaitsRecord::Process& process : sample.processes) {
      process.host.clear();
      if (process.nodes.front() != "worker/2") process.pid = 0;
    }
    sample.processes[1].waits->nodes.front().turn = {.work = "push", .thread = 7};
  }
  const std::vector<Diagnosis> all = tool::diagnose_starved(run.evidence);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].waiters, (std::vector<std::string>{"server", "worker/2"}));
}

}  // namespace
}  // namespace lp::test
