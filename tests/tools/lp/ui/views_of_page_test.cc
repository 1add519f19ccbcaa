// The lines and the answers from which the page of lp ui makes its views.

#include <gtest/gtest.h>

#include <limits>

#include "tests/directory.h"
#include "tests/error_of.h"
#include "tests/tools/lp/ui/run_for_test.h"
#include "tools/lp/command_error.h"
#include "tools/lp/plan_file.h"
#include "tools/lp/ui/live_lines.h"
#include "tools/lp/ui/live_view.h"
#include "tools/lp/ui/log_view.h"
#include "tools/lp/ui/page.h"
#include "tools/lp/ui/picture.h"
#include "tools/lp/ui/run_views.h"
#include "tools/lp/views/pattern.h"

namespace lp::test {
namespace {

double number(const JsonValue& value) { return from_json<double>(value); }
std::vector<double> numbers(const JsonValue& value) { return from_json<std::vector<double>>(value); }

class PageViews : public testing::Test {
 protected:
  PageViews() { setenv("XDG_STATE_HOME", directory_.path().c_str(), 1); }

  const Directory directory_{};
  const tool::RunLocation run_ = leave_run_for_page(directory_.path() / "lp/runs/training-1");
};

TEST_F(PageViews, ARunThatHasEndedHasItsStateAndItsEvents) {
  KeptLines lines;
  show_live(run_, lines);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines.at("run").find("state")->text(), "succeeded");
  EXPECT_EQ(lines.at("run").find("nodes")->items().size(), 4U);
  ASSERT_EQ(lines.at("events").items().size(), 2U);
  EXPECT_EQ(lines.at("events").items()[0].find("text")->text(), "<b>");
}

TEST_F(PageViews, ANodeHasAllItsRestarts) {
  tool::RunView run;
  run.status.nodes = {{.name = "worker/0", .incarnation = 4, .restarts = 1}, {.name = "worker/1", .incarnation = 1}};
  const JsonValue line = JsonValue::parse(tool::run_line(run));
  const std::vector<JsonValue>& nodes = line.find("run")->find("nodes")->items();
  EXPECT_EQ(number(*nodes[0].find("restarts")), 3);
  EXPECT_EQ(nodes[1].find("restarts"), nullptr);
}

TEST_F(PageViews, ARunThatDoesNotExistIsATrouble) {
  KeptLines lines;
  show_live({"other", directory_.path() / "lp/runs/other"}, lines);
  EXPECT_NE(lines.at("trouble").text().find("does not contain a run"), std::string::npos);
}

TEST_F(PageViews, RatesHaveNodesByPositionAndTheEdgesWithTheMostCalls) {
  const Plan plan = tool::plan_of(run_);
  tool::Rates rates;
  for (const PlanNode& node : plan.nodes) rates.nodes.push_back({.name = node.name});
  rates.nodes[0].in = {.calls = 12.3456, .waiting = 7};
  rates.nodes[1].measured = true;
  rates.nodes[1].cpu = std::numeric_limits<double>::infinity();
  for (const int worker : {0, 1, 2}) {
    rates.edges[{"worker/" + std::to_string(worker), "server"}] = {.calls = 10.0 + worker, .errors = 1};
  }
  const JsonValue line = JsonValue::parse(tool::rates_line(plan, rates, {}, 2));
  const JsonValue& shown = *line.find("rates");
  EXPECT_EQ(number(*shown.find("nodes")->items()[0].find("in")), 12.35);
  EXPECT_EQ(number(*shown.find("nodes")->items()[0].find("queue")), 7);
  EXPECT_EQ(shown.find("nodes")->items()[1].find("cpu")->kind(), JsonValue::Kind::null);
  EXPECT_EQ(shown.find("nodes")->items()[2].items().size(), 0U);
  ASSERT_EQ(shown.find("edges")->items().size(), 2U);
  for (const JsonValue& edge : shown.find("edges")->items()) EXPECT_GE(numbers(edge)[2], 11);
  EXPECT_EQ(number(*shown.find("left_out")), 1);
  ASSERT_EQ(shown.find("group_edges")->items().size(), 1U);
  EXPECT_EQ(numbers(shown.find("group_edges")->items()[0])[2], 33);
  EXPECT_EQ(numbers(shown.find("group_edges")->items()[0])[3], 3);
}

TEST_F(PageViews, ALongTextIsCutBetweenCharacters) {
  std::string text = "x";
  while (text.size() < 1000) text += "é";
  const std::vector<RunEvent> events = {{.text = text}};
  const JsonValue line = JsonValue::parse(tool::events_line(events));
  const std::string& shown = line.find("events")->items()[0].find("text")->text();
  EXPECT_EQ(shown.size(), 399U);
  EXPECT_TRUE(text.starts_with(shown));
}

TEST_F(PageViews, APictureHasACellForEachNodeInsideItsBox) {
  JsonWriter json;
  json.begin_object();
  Plan plan = tool::plan_of(run_);
  plan.groups[1].size = 900;
  tool::write_picture(json, plan);
  json.end_object();
  const JsonValue picture = JsonValue::parse(json.text());
  const JsonValue& workers = picture.find("groups")->items()[1];
  const double columns = number(*workers.find("columns")), cell = number(*workers.find("cell"));
  EXPECT_LE(columns * cell, number(*workers.find("width")));
  EXPECT_LE(900 / columns * cell, number(*workers.find("height")));
  EXPECT_LE(number(*workers.find("x")) + number(*workers.find("width")), number(*picture.find("width")));
  const std::vector<JsonValue>& route = picture.find("arrows")->items()[0].find("route")->items();
  EXPECT_EQ(numbers(route.front())[0], number(*workers.find("x")) + number(*workers.find("width")));
  EXPECT_EQ(numbers(route.back())[0], number(*picture.find("groups")->items()[0].find("x")));
}

TEST_F(PageViews, LogsAreTheLastLinesSafeToShow) {
  std::ofstream(run_.directory / "logs/worker/0.log") << "<b>\x07\n"
                                                      << "bytes \xff\n"
                                                      << std::string(5000, 'x') << "\nno end";
  KeptLines lines;
  show_logs(run_, {.nodes = {"worker/0"}}, lines);
  EXPECT_EQ(lines.at("logs").items().at(0).text(), "worker/0");
  ASSERT_EQ(lines.at("lines").items().size(), 4U);
  const auto text = [&](std::size_t i) { return lines.at("lines").items()[i].items().at(1).text(); };
  EXPECT_EQ(text(0), "<b>\\x07");
  EXPECT_EQ(text(1), "bytes \\xff");
  EXPECT_EQ(text(2), std::string(tool::kLongestLine, 'x'));
  EXPECT_EQ(text(3), "no end");
}

TEST_F(PageViews, OfVeryManyLinesTheNewestAreShownAndASearchSeesAll) {
  std::string many;
  for (int i = 0; i < 5000; ++i) many += "line " + std::to_string(i) + "\n";
  std::ofstream(run_.directory / "logs/worker/1.log") << many;
  KeptLines lines;
  show_logs(run_, {.nodes = {"worker/1"}}, lines);
  EXPECT_EQ(lines.at("lines").items().size(), tool::kFirstLines);
  EXPECT_EQ(lines.at("lines").items().back().items()[1].text(), "line 4999");
  EXPECT_EQ(number(lines.at("left_out")), 3000);
  KeptLines found;
  show_logs(run_, {.nodes = {"worker"}, .pattern = "LINE 1?7$", .ignore_case = true}, found);
  ASSERT_EQ(found.at("lines").items().size(), 2U);
  EXPECT_EQ(found.at("lines").items()[0].items()[1].text(), "line 7");
  KeptLines wrong;
  show_logs(run_, {.pattern = "("}, wrong);
  EXPECT_NE(wrong.at("trouble").text().find("is no regular expression"), std::string::npos);
  KeptLines nobody;
  show_logs(run_, {.nodes = {"worker/9"}}, nobody);
  EXPECT_NE(nobody.at("trouble").text().find("there is no node \"worker/9\""), std::string::npos);
}

// A reader that leaves while the log is searched.
class GoneLines : public KeptLines {
 public:
  bool write(std::string line) override {
    const bool asks = line.empty();
    KeptLines::write(std::move(line));
    return !asks;
  }
};

TEST_F(PageViews, ASearchEndsWhenItsReaderHasLeft) {
  std::ofstream(run_.directory / "logs/worker/0.log") << "one\ntwo\n";
  GoneLines lines;
  show_logs(run_, {.nodes = {"worker"}, .pattern = "one"}, lines);
  EXPECT_EQ(lines.size(), 1U);  // the names of the logs
}

TEST_F(PageViews, ASearchTriesTheBeginningOfALongLine) {
  constexpr std::size_t kLong = tool::Pattern::kLongestTried;
  const tool::Pattern end("end$", false);
  EXPECT_TRUE(end.matches(std::string(kLong - 3, 'x') + "end"));
  EXPECT_FALSE(end.matches(std::string(kLong, 'x') + "end"));
  for (const char* text : {"(a)\\1", "[]\\1](a)\\1", "[[:digit:]](a)\\1"}) {
    EXPECT_THROW(tool::Pattern(text, false), tool::CommandError) << text;
  }
  for (const char* text : {"(a)[\\1]", "(a)\\\\1", "(a)[[:digit:]\\1]", "(a)[^]\\1]"}) tool::Pattern(text, false);
}

TEST_F(PageViews, TheListKeepsRunsThatHaveEndedAndSeesNewOnes) {
  tool::RunList list;
  const auto names = [&] { return JsonValue::parse(list.json()).find("runs")->items().size(); };
  EXPECT_EQ(names(), 1U);
  std::ofstream(run_.directory / "status.json") << "{";  // which is not read again
  EXPECT_EQ(JsonValue::parse(list.json()).find("runs")->items()[0].find("state")->text(), "succeeded");
  leave_run_for_page(directory_.path() / "lp/runs/training-2");
  EXPECT_EQ(names(), 2U);
}

TEST_F(PageViews, CheckpointsAndCurvesOfARunWithoutAny) {
  const JsonValue checkpoints = JsonValue::parse(tool::checkpoints_json(run_));
  EXPECT_EQ(checkpoints.find("checkpoints")->items().size(), 0U);
  EXPECT_EQ(JsonValue::parse(tool::curves_json(run_)).find("curves")->items().size(), 0U);
  EXPECT_THROW(tool::why_json(run_), tool::CommandError);
}

TEST(Page, NeedsNothingFromOutsideAndPutsNoTextOfRunsIntoHtml) {
  const std::string page = tool::page_text("word");
  EXPECT_NE(page.find("<style nonce=\"word\">"), std::string::npos);
  EXPECT_NE(page.find("<script nonce=\"word\">"), std::string::npos);
  for (const char* danger : {"http:", "https:", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write",
                             "eval(", "new Function", "style=\"", "<!--style-->", "<!--script-->"}) {
    EXPECT_EQ(page.find(danger), std::string::npos) << danger;
  }
  EXPECT_TRUE(tool::page_policy("word").starts_with("default-src 'none'; connect-src 'self';"));
}

}  // namespace
}  // namespace lp::test
