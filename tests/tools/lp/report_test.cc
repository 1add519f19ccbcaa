// The page of lp report, made of invented events.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/lp/report/report_page.h"

namespace lp::tool {
namespace {

TEST(ReportPage, NodesThatAreRestartedTogetherHaveARowTogether) {
  using Kind = RunEvent::Kind;
  const std::string together = "together with server/0 from the beginning";
  RunHistory history;
  history.events = {{.time = 5, .kind = Kind::failed, .node = "server/0", .text = "exited with code 3"},
                    {.time = 5.1, .kind = Kind::restarting, .node = "server/0", .text = "restart 1 of 2"},
                    {.time = 5.1, .kind = Kind::restarting, .node = "server/1", .text = together},
                    {.time = 5.2, .kind = Kind::starting, .node = "server/1"},
                    {.time = 5.2, .kind = Kind::restarting, .node = "server/2", .text = together},
                    {.time = 9, .kind = Kind::restarting, .node = "server/1", .text = together}};
  const std::string page = report_page(history);
  EXPECT_NE(page.find(">server/1, server/2</td><td class=\"text\">" + together), std::string::npos) << page;
  EXPECT_NE(page.find(">server/1</td><td class=\"text\">" + together), std::string::npos) << page;
}

// Three workers of a server, of which one makes a seventeenth of the calls of the others.
TEST(ReportPage, AReplicaThatHasMadeFewerCallsIsNamed) {
  RunHistory history;
  history.plan.groups = {{.first = 0, .size = 1}, {.first = 1, .size = 3}};
  history.plan.groups[0].options.name = "server";
  history.plan.groups[1].options.name = "worker";
  history.plan.nodes = {{.name = "server", .group = 0}};
  UsageRecord::Interval interval{.begin = 100, .end = 200, .looks = 100, .nodes = {{.idle = 100}}};
  history.usage.nodes = {"server"};
  for (const char* worker : {"worker/0", "worker/1", "worker/2"}) {
    history.plan.nodes.push_back({.name = worker, .group = 1, .calls = {0}});
    history.usage.nodes.emplace_back(worker);
    history.usage.edges.push_back({.caller = worker, .callee = "server", .calls = 17'000});
    interval.nodes.push_back({.works = 10, .waits = 90});
  }
  for (const std::string& node : history.usage.nodes) {
    history.run.status.nodes.push_back({.name = node, .state = NodeStatus::State::running, .incarnation = 1});
  }
  history.usage.edges[1].calls = 1'000;
  interval.nodes[2] = {.works = 40, .waits = 60};
  history.usage.intervals = {interval};
  const auto sentences = [&] { return stragglers_of(history, summaries_of(history)); };
  EXPECT_EQ(sentences(), (std::vector<std::string>{
                             "worker/1 is a straggler: a call, with the work for it, takes it 17 times as long as the "
                             "other 2 of its group; it makes 10 calls a second, and the median of them 170."}));
  EXPECT_EQ(report_page(history).find("No replica was much slower"), std::string::npos);
  // A shorter run shows only chance.
  history.usage.intervals[0].end = 103;
  EXPECT_TRUE(sentences().empty());
  history.usage.intervals[0].end = 200;
  // Nobody knows what it has waited for.
  history.usage.intervals[0].nodes[2] = {.works = 1, .waits = 99};
  EXPECT_EQ(sentences(),
            (std::vector<std::string>{"worker/1 makes 5.9 % of the calls of the median of the other 2 of its group, "
                                      "and waits for 99 % of the time."}));
  // It came later, and is as fast as the others since then.
  history.usage.intervals.insert(history.usage.intervals.begin(), interval);
  history.usage.intervals[0].nodes[2] = {.down = 100};
  history.usage.intervals[1].nodes[2] = {.works = 10, .waits = 90};
  history.usage.edges[1].calls = 8'500;
  EXPECT_TRUE(sentences().empty());
}

// 19 s of 297 s of which a few looks have seen all, beside intervals of 2 s with many looks.
TEST(ReportPage, ALongStopWeighsAsItsTimeAndNotAsItsLooks) {
  RunHistory history;
  history.usage.nodes = {"worker/1"};
  history.run.status.nodes = {{.name = "worker/1", .incarnation = 2}};
  for (double time = 0; time < 297;) {
    const bool stop = time == 100;
    const double length = stop ? 19 : 2;
    const std::uint32_t looks = stop ? 5 : 12;
    history.usage.intervals.push_back({.begin = time, .end = time + length, .looks = looks, .nodes = {{}}});
    UsageRecord::Interval& interval = history.usage.intervals.back();
    (stop ? interval.nodes[0].down : interval.nodes[0].works) = looks;
    interval.ends = {{"worker/0", "run()", 12, 6}};
    if (stop) interval.ends = {{"worker/1", "is down", 5, 0}};
    time += length;
  }
  const std::vector<NodeSummary> nodes = summaries_of(history);
  EXPECT_NEAR(nodes[0].down, 19.0 / 297, 1e-9);
  EXPECT_NEAR(nodes[0].works, 278.0 / 297, 1e-9);
  const std::vector<WaitEnd> ends = ends_of(history.usage);
  ASSERT_EQ(ends.size(), 2U);
  EXPECT_EQ(ends[1].work, "is down");
  EXPECT_NEAR(ends[1].seconds, 19, 1e-9);
  EXPECT_NEAR(ends[0].of_others, 139, 1e-9);
  const std::vector<PathPart> path = critical_path(history.usage);
  ASSERT_EQ(path.size(), 3U);
  EXPECT_EQ(path[1].node, "worker/1");
  EXPECT_EQ(path[1].work, "is down");
  EXPECT_GE(path[1].time.end - path[1].time.begin, 19);
  EXPECT_GT(path[1].share, 0.8);
  EXPECT_NE(report_page(history).find(">6.4 %<"), std::string::npos) << report_page(history);
}

TEST(ReportPage, ANodeThatWasRestartedOnRequestHasRestarts) {
  RunHistory history;
  history.run.status.nodes = {{.name = "worker/1", .incarnation = 8, .restarts = 2}};
  EXPECT_NE(report_page(history).find(">7</td>"), std::string::npos) << report_page(history);
}

TEST(ReportPage, TheProgramsResultIsATable) {
  RunHistory history;
  EXPECT_EQ(report_page(history).find("The program's result"), std::string::npos);
  history.result = JsonValue::parse(
      R"({"skew":"the key <b> has 60%","empty":"","turned":"a\u202eb","none":null,"ok":true,"staleness":[3,1],)"
      R"("counters":{"pairs":7},"edges":[{"from":"a"},{"from":"b"}]})");
  const std::string page = report_page(history);
  for (const char* row :
       {">skew</td><td class=\"text\">the key &lt;b&gt; has 60%<", ">ok</td><td class=\"text\">true<",
        ">turned</td><td class=\"text\">a\\xe2\\x80\\xaeb<", ">staleness</td><td class=\"text\">3, 1<",
        ">counters.pairs</td><td class=\"text\">7<", ">edges[1].from</td><td class=\"text\">b<"}) {
    EXPECT_NE(page.find(row), std::string::npos) << row << " is not in " << page;
  }
  EXPECT_EQ(page.find(">empty<"), std::string::npos);
  EXPECT_EQ(page.find(">none<"), std::string::npos);
}

}  // namespace
}  // namespace lp::tool
