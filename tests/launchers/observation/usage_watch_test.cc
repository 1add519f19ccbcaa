// The record of what nodes did and waited for: the states of nodes, the ends of waits, counts, and its bound.
#include "launchers/observation/usage_watch.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/json.h"
#include "lp/base/json_value.h"
#include "lp/program/plan.h"

namespace lp::launch {
namespace {

// Two workers that call a server, each in a process of its own.
Plan workers_plan() {
  Plan plan{.program = "test"};
  plan.groups.push_back({.options = {.name = "server"}, .first = 0, .size = 1});
  plan.groups.push_back({.options = {.name = "worker"}, .active = true, .first = 1, .size = 2});
  plan.nodes.push_back({.name = "server", .group = 0, .process = 0});
  plan.nodes.push_back({.name = "worker/0", .group = 1, .index = 0, .process = 1, .calls = {0}});
  plan.nodes.push_back({.name = "worker/1", .group = 1, .index = 1, .process = 2, .calls = {0}});
  plan.processes = 3;
  return plan;
}

class UsageWatchTest : public testing::Test {
 protected:
  UsageWatchTest() : watch_(plan_, graph_, std::nullopt) {
    for (const char* name : {"server", "worker/0", "worker/1"}) {
      status_.nodes.push_back({.name = name, .state = NodeStatus::State::running, .pid = 7});
      ++status_.nodes.back().pid;
    }
    status_.nodes[0].state = NodeStatus::State::ready;
  }

  // The server handles the call of worker/0, which waits for it; worker/1 works.
  void answer() {
    ProcessWaits server;
    server.nodes.push_back(
        {.node = "server", .turn = RunningHandler{.work = "push", .caller = "worker/0", .chain = 5}});
    server.nodes[0].turn->thread = 21;
    server.nodes[0].queue = 3;
    watch_.on_measured(0, {.waits = server});
    ProcessWaits waiting;
    waiting.nodes.push_back({.node = "worker/0", .run_thread = 11});
    waiting.nodes[0].threads.push_back(
        {.thread = 11, .what = WaitingThread::For::reply, .callee = "server", .method = "push", .call_chain = 5});
    watch_.on_measured(1, {.waits = waiting});
    ProcessWaits working;
    working.nodes.push_back({.node = "worker/1", .run_thread = 12});
    watch_.on_measured(2, {.waits = working});
  }
  void look(double time) {
    answer();
    watch_.end_look(status_, time);
  }
  void count(std::uint64_t calls) {
    Measurement part{.use = ProcessUse{.cpu = 0.5 * static_cast<double>(calls), .memory = 1000 + calls}};
    part.calls.emplace().push_back(
        {.caller = "worker/0", .callee = "server", .method = "push", .calls = calls, .bytes_sent = 10 * calls});
    watch_.on_measured(1, part);
  }

  const Plan plan_ = workers_plan();
  const SupervisionGraph graph_ = topology_of(plan_);
  UsageWatch watch_;
  RunStatus status_;
};

TEST_F(UsageWatchTest, ALookFindsWhereWaitsEnd) {
  look(1e9);
  const UsageRecord record = watch_.record();
  ASSERT_EQ(record.intervals.size(), 1U);
  const UsageRecord::Interval& interval = record.intervals[0];
  EXPECT_EQ(interval.looks, 1U);
  EXPECT_EQ(interval.nodes[0].works, 1U);
  EXPECT_EQ(interval.nodes[0].queue, 3U);
  EXPECT_EQ(interval.nodes[1].waits, 1U);
  EXPECT_EQ(interval.nodes[2].works, 1U);
  ASSERT_EQ(interval.ends.size(), 2U);
  const bool server_first = interval.ends[0].node == "server";
  const UsageRecord::End& server = interval.ends[server_first ? 0 : 1];
  EXPECT_EQ(server.work, "push()");
  EXPECT_EQ(server.looks, 0.5);
  EXPECT_EQ(server.of_others, 0.5);
  EXPECT_EQ(interval.ends[server_first ? 1 : 0].of_others, 0);
  ASSERT_EQ(record.waits.size(), 1U);
  EXPECT_EQ(record.waits[0].node, "worker/0");
  EXPECT_EQ(record.waits[0].waits_for, "server");
}

TEST_F(UsageWatchTest, ACallOnItsWayEndsAtItsCallee) {
  ProcessWaits waiting;
  waiting.nodes.push_back({.node = "worker/0", .run_thread = 11});
  waiting.nodes[0].threads.push_back(
      {.thread = 11, .what = WaitingThread::For::reply, .callee = "server", .method = "push", .call_chain = 5});
  watch_.on_measured(1, {.waits = waiting});
  ProcessWaits idle;
  idle.nodes.push_back({.node = "server"});
  watch_.on_measured(0, {.waits = idle});
  status_.nodes[2].state = NodeStatus::State::finished;
  watch_.end_look(status_, 1e9);
  const UsageRecord record = watch_.record();
  ASSERT_EQ(record.intervals[0].ends.size(), 1U);
  EXPECT_EQ(record.intervals[0].ends[0].node, "server");
  EXPECT_EQ(record.intervals[0].ends[0].work, "a call on its way");
  EXPECT_EQ(record.intervals[0].ends[0].of_others, 1);
  EXPECT_EQ(record.waits[0].waits_for, "server");
}

TEST_F(UsageWatchTest, ANodeThatDoesNotAnswerIsDown) {
  watch_.end_look(status_, 1e9);
  status_.nodes[1].state = NodeStatus::State::starting;
  look(1e9 + 0.1);
  const UsageRecord record = watch_.record();
  EXPECT_EQ(record.intervals[0].nodes[0].down, 1U);
  EXPECT_EQ(record.intervals[0].nodes[0].works, 1U);
  EXPECT_EQ(record.intervals[0].nodes[1].down, 2U);
}

TEST_F(UsageWatchTest, CountsGoOnWhenAProcessBeginsAgain) {
  for (const std::uint64_t calls : {10U, 30U, 5U, 6U}) count(calls);
  look(1e9);
  const UsageRecord record = watch_.record();
  ASSERT_EQ(record.edges.size(), 1U);
  EXPECT_EQ(record.edges[0].calls, 36U);
  EXPECT_EQ(record.edges[0].bytes, 360U);
  EXPECT_EQ(record.intervals[0].nodes[1].cpu, 18);
  EXPECT_EQ(record.intervals[0].nodes[1].memory, 1030U);
}

TEST_F(UsageWatchTest, AWeekHasAsManyIntervalsAsAnHour) {
  constexpr std::uint32_t kLooks = 3000;
  for (std::uint32_t i = 1; i <= kLooks; ++i) look(2e9 + i * 200.0);
  const UsageRecord record = watch_.record();
  EXPECT_LE(record.intervals.size(), most_intervals(3));
  EXPECT_GE(record.intervals.size(), most_intervals(3) / 2);
  std::uint32_t looks = 0;
  double ends = 0;
  for (const UsageRecord::Interval& interval : record.intervals) {
    looks += interval.looks;
    for (const UsageRecord::End& end : interval.ends) ends += end.looks;
  }
  EXPECT_EQ(looks, kLooks);
  EXPECT_NEAR(ends, kLooks, 1e-6);
  EXPECT_LT(to_json(record).size(), std::size_t{1} << 20);
  EXPECT_EQ(to_json(from_json<UsageRecord>(to_json(record))), to_json(record));
  const UsageWatch next(plan_, graph_, record);  // another start of the job
  EXPECT_EQ(next.record().intervals.size(), record.intervals.size());
  EXPECT_EQ(next.record().waits.size(), 1U);
}

TEST_F(UsageWatchTest, ALookThatTakesLongHasItsOwnInterval) {
  look(2e9);  // the interval of the time until then
  for (const double time : {0.1, 0.2, 5.2, 5.3}) look(2e9 + time);
  const std::vector<UsageRecord::Interval> intervals = watch_.record().intervals;
  ASSERT_EQ(intervals.size(), 4U);
  EXPECT_EQ(intervals[1].looks, 2U);
  EXPECT_EQ(intervals[2].looks, 1U);
  EXPECT_NEAR(intervals[2].end - intervals[2].begin, 5, 1e-6);
}

TEST(Usage, ARecordOfManyNodesHasFewIntervals) {
  EXPECT_EQ(most_intervals(1), 240U);
  EXPECT_EQ(most_intervals(1000), 16U);
  EXPECT_EQ(most_intervals(0), 240U);
}

// 19 s of which a few looks have seen all, beside 1 s with many looks.
TEST(Usage, JoinedIntervalsKeepTheSharesOfTheirTime) {
  UsageRecord record{.nodes = {"worker"}};
  record.intervals.push_back(
      {.begin = 100, .end = 119, .looks = 5, .nodes = {{.down = 5}}, .ends = {{"worker", "is down", 5, 0}}});
  record.intervals.push_back(
      {.begin = 119, .end = 120, .looks = 15, .nodes = {{.works = 15}}, .ends = {{"worker", "run()", 15, 0}}});
  halve_intervals(record);
  ASSERT_EQ(record.intervals.size(), 1U);
  const UsageRecord::Interval& joined = record.intervals[0];
  EXPECT_EQ(joined.looks, 20U);
  EXPECT_EQ(joined.nodes[0].down, 19U);
  EXPECT_EQ(joined.nodes[0].works, 1U);
  EXPECT_EQ(joined.ends[0].work, "is down");
  EXPECT_NEAR(joined.ends[0].looks, 19, 1e-9);
}

}  // namespace
}  // namespace lp::launch
