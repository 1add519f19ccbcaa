// The form of a trace file, and how the records of processes become one trace.

#include "tools/lp/trace/trace_json.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lp/base/error.h"
#include "tests/tools/lp/trace/trace_file.h"
#include "tools/lp/trace/gaps.h"

namespace lp::tool {
namespace {

using Kind = SpanRecord::Kind;
using test::TraceEvent;
using test::TraceFile;

Time at(std::int64_t nanoseconds) { return Time(Duration(nanoseconds)); }

SpanRecord call(std::uint64_t id, std::uint64_t parent, std::int64_t begin, std::int64_t end) {
  SpanRecord record{.id = id, .parent = parent, .chain = 7, .begin = at(begin), .end = at(end)};
  record.node = 0;
  record.other = 1;
  record.thread = 11;
  record.kind = Kind::call;
  record.set_name("push");
  return record;
}
SpanRecord handler(std::uint64_t id, std::int64_t arrived, std::int64_t begin, std::int64_t end, std::int64_t replied) {
  SpanRecord record{.id = id, .chain = 7, .begin = at(begin), .end = at(end), .arrived = at(arrived)};
  record.replied = at(replied);
  record.node = 1;
  record.other = 0;
  record.thread = 22;
  record.kind = Kind::handler;
  record.set_name("push");
  return record;
}
SpanRecord part(std::uint64_t id, std::uint64_t parent, std::int64_t begin, std::int64_t end, const std::string& name) {
  SpanRecord record{.id = id, .parent = parent, .begin = at(begin), .end = at(end), .node = 1, .thread = 22};
  record.set_name(name);
  return record;
}

Trace two_nodes() {
  Trace trace;
  trace.run = "digits-1";
  trace.nodes = {{.name = "worker"}, {.name = "server", .host = "h2"}};
  return trace;
}

std::vector<std::string> names(const std::vector<const TraceEvent*>& events) {
  std::vector<std::string> all;
  for (const TraceEvent* one : events) all.push_back(one->name);
  return all;
}

TEST(TraceJson, WhatIsMissingIsSaidInSentences) {
  Trace trace = two_nodes();
  trace.spans = {call(1, 0, 1'000'000'000, 1'000'000'100)};
  trace.gaps = {{.nodes = {"server"}, .since = at(1'900'000'000), .ended = at(2'200'000'000)},
                {.nodes = {"a", "b", "c"}, .since = at(0), .ended = at(1'500'000'000)},
                {.nodes = {"a", "b"}, .since = at(3'000'000'000)},
                {.nodes = std::vector<std::string>(13, "n"), .answered = false}};
  const std::vector<std::string> texts = {
      "server ended at 1.2 s: what it had recorded since 0.9 s is lost",
      "a, b and c ended at 0.5 s: what they had recorded since 0.0 s is lost",
      "a and b have not answered since 2.0 s: what happened there since then is missing",
      "n, n, n, n, n, n, n, n, n, n and 3 more did not answer: what happened there is missing"};
  EXPECT_EQ(gap_texts(trace), texts);
  EXPECT_NE(trace_json(trace).find("\"missing\":[\"" + texts[0] + "\",\"" + texts[1]), std::string::npos);
  EXPECT_EQ(trace_json(two_nodes()).find("missing"), std::string::npos);
}

TEST(Recording, KeepsWhatIsLostAndWhichNodesAreSilent) {
  const std::string empty = launch::pack_spans({.clock = "here"});
  Recording recording;
  recording.add({.time = 100, .clock = "here", .most = 10, .silent = {"a", "b"}});
  EXPECT_FALSE(recording.answered());
  EXPECT_EQ(recording.silent().size(), 2U);
  recording.add({.time = 300,
                 .clock = "here",
                 .most = 10,
                 .processes = {{.nodes = {"a"}, .came = 200, .spans = empty}},
                 .lost = {{.nodes = {"c"}, .since = 150, .ended = 250}},
                 .silent = {"b"}});
  EXPECT_TRUE(recording.answered());
  recording.add({.time = 400, .clock = "here", .most = 10, .silent = {"a", "b"}});
  Trace trace = two_nodes();
  recording.move_to(trace);
  ASSERT_EQ(trace.gaps.size(), 3U);
  EXPECT_EQ(trace.gaps[0].nodes, std::vector<std::string>{"c"});
  EXPECT_EQ(trace.gaps[0].ended, at(250));
  EXPECT_EQ(trace.gaps[1].nodes, std::vector<std::string>{"b"});
  EXPECT_FALSE(trace.gaps[1].answered);
  EXPECT_EQ(trace.gaps[2].nodes, std::vector<std::string>{"a"});
  EXPECT_EQ(trace.gaps[2].since, at(200));
}

TEST(TraceJson, ACallHasItsPhasesAndAnArrowToItsHandler) {
  Trace trace = two_nodes();
  trace.spans = {part(3, 1, 1300, 1400, "decode"), handler(1, 1100, 1250, 1500, 1700), call(1, 0, 1000, 1900)};
  const TraceFile file(trace_json(trace));
  file.check();
  EXPECT_EQ(names(file.slices("call")), std::vector<std::string>{"server.push()"});
  EXPECT_EQ(names(file.slices("phase")), (std::vector<std::string>{"send", "queue", "run", "open", "reply"}));
  EXPECT_EQ(names(file.slices("handler")), std::vector<std::string>{"push()"});
  EXPECT_EQ(names(file.slices("span")), std::vector<std::string>{"decode"});
  EXPECT_EQ(file.slices("call")[0]->begin, 0);  // times begin with the first span
  EXPECT_EQ(file.slices("call")[0]->duration, 900);
  EXPECT_EQ(file.slices("phase")[1]->begin, 100);
  EXPECT_EQ(file.slices("phase")[1]->duration, 150);
  EXPECT_EQ(file.process(file.slices("call")[0]->process), "worker");
  EXPECT_EQ(file.process(file.slices("handler")[0]->process), "server");
  EXPECT_EQ(file.slices("handler")[0]->arguments.at("caller"), "worker");
  EXPECT_EQ(file.slices("span")[0]->arguments.at("parent"), file.slices("call")[0]->span());
  std::size_t arrows = 0;
  for (const TraceEvent& event : file.events()) arrows += event.phase == "f" ? 1U : 0U;
  EXPECT_EQ(arrows, 1U);
}

TEST(TraceJson, ADirectCallIsShownAtBothNodes) {
  Trace trace = two_nodes();
  SpanRecord direct = call(1, 0, 1000, 2000);
  direct.kind = Kind::direct;
  SpanRecord inner = part(2, 1, 1100, 1200, "inner");
  inner.thread = direct.thread;
  trace.spans = {inner, direct};
  const TraceFile file(trace_json(trace));
  file.check();
  ASSERT_EQ(file.slices("handler").size(), 1U);
  EXPECT_EQ(file.process(file.slices("handler")[0]->process), "server");
  EXPECT_EQ(file.slices("span")[0]->thread, file.slices("handler")[0]->thread);
}

TEST(TraceJson, CallsAtTheSameTimeGetRowsOfTheirOwn) {
  Trace trace = two_nodes();
  for (std::uint64_t id = 1; id <= 5; ++id) {
    const auto later = static_cast<std::int64_t>(10 * id);
    trace.spans.push_back(call(id, 0, later, 1000 + later));
  }
  const TraceFile file(trace_json(trace));
  file.check();
  std::map<std::int64_t, int> rows;
  for (const TraceEvent* one : file.slices("call")) ++rows[one->thread];
  EXPECT_EQ(rows.size(), 5U);
}

TEST(TraceJson, MarksAndValuesStandAtTheirNodes) {
  Trace trace = two_nodes();
  trace.marks = {{.at = at(5000), .name = "checkpoint", .text = "step 3"},
                 {.at = at(6000), .node = 1, .name = "restarting", .text = "in 1 s"}};
  trace.values = {{.at = at(7000), .node = 0, .name = "loss", .value = 0.5}};
  const TraceFile file(trace_json(trace));
  file.check();
  EXPECT_TRUE(file.has_mark("checkpoint"));
  EXPECT_TRUE(file.has_mark("restarting"));
  for (const TraceEvent& event : file.events()) {
    if (event.phase == "i" && event.name == "restarting") {
      EXPECT_EQ(file.process(event.process), "server");
    }
    if (event.phase != "C") continue;
    EXPECT_EQ(file.process(event.process), "worker");
    EXPECT_EQ(event.begin, 2000);
    EXPECT_EQ(event.arguments.at("value"), "0.5");
  }
}

TEST(TraceJson, NamesOfAnyKindAreText) {
  Trace trace = two_nodes();
  trace.run = "</script><b>";
  trace.nodes[0].name = std::string("a\0b\x1b[31m\xff", 9);
  trace.spans = {part(1, 0, 10, 20, "<img src=x onerror=alert(1)>"), part(2, 0, 20, 30, "\xC3"),
                 part(3, 0, 30, 40, "\"\\\n")};
  const std::string json = trace_json(trace);
  EXPECT_EQ(json.find('<'), std::string::npos);
  for (const char c : json) EXPECT_GE(static_cast<unsigned char>(c), 0x20);
  const TraceFile file(json);  // which refuses what is not UTF-8
  file.check();
  EXPECT_EQ(names(file.slices("span")),
            (std::vector<std::string>{"<img src=x onerror=alert(1)>", "\xEF\xBF\xBD", "\"\\\n"}));
}

TEST(TraceJson, AnEmptyTraceIsAFile) { TraceFile(trace_json(two_nodes())).check(); }

// The answer of a run whose processes have these clocks.
class Answer {
 public:
  Answer() {
    record_.clock = "here";
    record_.most = 1000;
    record_.time = 50'000;
    record_.wall = 1'000'000'050'000;
  }
  // A process whose clock is ahead, whose messages take 100 ns there and 200 ns back.
  Answer& add(const std::string& clock, std::int64_t ahead, std::vector<SpanRecord> records, std::uint64_t lost = 0) {
    launch::ProcessSpans spans{.clock = clock, .sent = at(10'000), .arrived = at(10'100 + ahead)};
    spans.answered = at(10'200 + ahead);
    spans.recorded = {.records = std::move(records), .lost = lost};
    record_.processes.push_back({.came = 10'400, .spans = pack_spans(spans)});
    return *this;
  }
  const SpansRecord& record() const { return record_; }
  SpansRecord& record() { return record_; }

 private:
  SpansRecord record_;
};

TEST(Recording, PutsTheSpansOfAllHostsOnOneClock) {
  constexpr std::int64_t kAhead = 1'000'000'000'000;
  Recording recording;
  Answer answer;
  answer.add("here", 0, {call(1, 0, 20'000, 20'100)});
  answer.add("there", kAhead,
             {part(2, 1, kAhead + 20'035, kAhead + 20'040, "decode"),
              handler(1, kAhead + 20'020, kAhead + 20'030, kAhead + 20'050, kAhead + 20'060)},
             3);
  EXPECT_FALSE(recording.add(answer.record()));
  EXPECT_FALSE(recording.quiet());
  Trace trace = two_nodes();
  recording.move_to(trace);
  EXPECT_EQ(trace.lost, 3U);
  EXPECT_LE(trace.clock_error, Duration(30));  // half of what the call waits for its messages
  const TraceFile file(trace_json(trace));
  file.check();
  EXPECT_EQ(file.orphans(), 0U);
  EXPECT_EQ(file.slices("phase").size(), 5U);
}

TEST(Recording, WhereClocksDriftAHandlerStaysInItsCall) {
  constexpr std::int64_t kAhead = 5'000'000;
  Recording recording;
  Answer answer;
  std::vector<SpanRecord> calls, handlers;
  for (std::int64_t i = 0; i < 100; ++i) {
    const std::int64_t begin = 20'000 + i * 1000, drift = kAhead + i * 10;
    const auto id = static_cast<std::uint64_t>(i + 1);
    calls.push_back(call(id, 0, begin, begin + 100));
    handlers.push_back(part(1000 + id, id, begin + drift + 40, begin + drift + 50, "decode"));
    handlers.push_back(handler(id, begin + drift + 20, begin + drift + 30, begin + drift + 60, begin + drift + 80));
  }
  answer.add("here", 0, std::move(calls));
  answer.add("there", kAhead, std::move(handlers));
  recording.add(answer.record());
  Trace trace = two_nodes();
  recording.move_to(trace);
  const TraceFile file(trace_json(trace));
  file.check();
  EXPECT_GE(trace.clock_error, Duration(400));
  EXPECT_EQ(file.slices("span").size(), 100U);
}

TEST(Recording, KnowsWhetherThereIsMore) {
  Recording recording;
  Answer answer;
  EXPECT_FALSE(recording.add(answer.record()));
  EXPECT_TRUE(recording.quiet());
  answer.record().most = 2;
  answer.add("here", 0, {call(1, 0, 1, 2), call(2, 0, 2, 3)});
  EXPECT_TRUE(recording.add(answer.record()));
  EXPECT_EQ(recording.size(), 2U);
  EXPECT_EQ(recording.time_of(1000.00006), at(60'000));
}

TEST(Recording, RefusesAnAnswerThatIsNone) {
  Recording recording;
  Answer answer;
  for (const std::string& text : {std::string("AAAA"), std::string("not base64"), std::string()}) {
    answer.record().processes = {{.spans = text}};
    EXPECT_THROW(recording.add(answer.record()), Error) << text;
  }
}

}  // namespace
}  // namespace lp::tool
