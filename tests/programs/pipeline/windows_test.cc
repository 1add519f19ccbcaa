// Windows of event time: which events are in them, when they fire, and what is late.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/error_of.h"
#include "tests/programs/pipeline/listed_events.h"
#include "tests/programs/pipeline/pipeline_run.h"

namespace lp {
namespace {

using test::Event;
using test::events_of;
using test::key_of;
using test::Listed;
using test::PipelineFiles;
using test::run_pipeline;
using test::time_of;

using Lines = std::multiset<std::string>;
using std::chrono::milliseconds;

template <class K, class R>
void write(const Flow<Windowed<K, R>>& flow, const std::filesystem::path& into) {
  flow.write(into, [](const Windowed<K, R>& one, Output& out) {
    out.line(one.key, ' ', one.window.begin, ' ', one.window.end, ' ', one.value);
  });
}

Lines counts(Windows windows, std::vector<Event> events, WindowOptions options = {}, Lines* late = nullptr,
             Duration disorder = {}) {
  const PipelineFiles files;
  Pipeline pipeline;
  const auto results =
      events_of(pipeline, std::move(events), disorder).key_by(key_of).window(windows, time_of, options).count();
  write(results, files.output());
  results.late().write(files.path() / "late",
                       [](const Event& event, Output& out) { out.line(event.key, ' ', event.time); });
  EXPECT_EQ(run_pipeline(pipeline, {}), "");
  if (late != nullptr && std::filesystem::exists(files.path() / "late")) *late = files.lines("late");
  return files.lines();
}

TEST(WindowsTest, SumsThatAreMadeBeforeTheEventsAreDividedChangeNoResult) {
  const std::vector<Event> events{{"a", 5},  {"b", 9}, {"a", 25}, {"a", 6},  {"a", 7}, {"b", 8},
                                  {"a", 31}, {"a", 9}, {"a", 12}, {"b", 33}, {"b", 2}, {"c", 47}};
  for (const Windows& windows :
       {Windows::tumbling(milliseconds(10)), Windows::sliding(milliseconds(10), milliseconds(4)),
        Windows::session(milliseconds(5))}) {
    for (const Duration lateness : {milliseconds(0), milliseconds(20)}) {
      for (const Duration disorder : {milliseconds(0), milliseconds(15)}) {
        Lines late, late_combined;
        const auto of = [&](bool combine, Lines* into) {
          return counts(windows, events, {.lateness = lateness, .combine = combine}, into, disorder);
        };
        EXPECT_EQ(of(false, &late), of(true, &late_combined));
        EXPECT_EQ(late, late_combined);
      }
    }
  }
}

// The events of each are far from one another, and those of both are not.
TEST(WindowsTest, ASessionWithEventsOfTwoReplicasIsOneAlsoWhenTheyAreAddedUpBefore) {
  const PipelineFiles files;
  Pipeline pipeline;
  const auto events = pipeline
                          .generate(
                              [](std::uint64_t number) {
                                return Event{"a", static_cast<EventTime>(number)};
                              },
                              {.count = 20'000}, {.replicas = 2})
                          .event_time(time_of);
  write(events.key_by(key_of).window(Windows::session(milliseconds(2)), time_of, {.combine = true}).count(),
        files.output());
  EXPECT_EQ(run_pipeline(pipeline, {}), "");
  EXPECT_EQ(files.lines(), (Lines{"a 0 20001 20000"}));
}

TEST(WindowsTest, SumsThatAreAsLargeAsTheirEventsAreNotMadeBefore) {
  Pipeline pipeline;
  const auto windows =
      events_of(pipeline, {}).key_by(key_of).window(Windows::session(milliseconds(5)), time_of, {.combine = true});
  EXPECT_EQ(test::error_of([&] {
              windows.group<int>([](const std::string&, const Window&, const std::vector<Event>&, auto&) {});
            }),
            "WindowOptions::combine is only for sums whose bytes can be copied: others are as large as all their "
            "events, which one replica needs together");
}

TEST(WindowsTest, TumblingWindowsHaveTheirBeginAndNotTheirEnd) {
  EXPECT_EQ(counts(Windows::tumbling(milliseconds(10)), {{"a", 0}, {"a", 9}, {"b", 10}, {"a", 10}, {"a", 25}}),
            (Lines{"a 0 10 2", "b 10 20 1", "a 10 20 1", "a 20 30 1"}));
  EXPECT_EQ(counts(Windows::tumbling(milliseconds(10), milliseconds(3)), {{"a", -8}, {"a", 2}, {"a", 3}}),
            (Lines{"a -17 -7 1", "a -7 3 1", "a 3 13 1"}));
}

// All events come at once, so that one watermark behind them would leave none late.
TEST(WindowsTest, TheOrderOfEventsDecidesWhichAreLate) {
  const PipelineFiles files;
  Pipeline pipeline;
  const std::vector<Event> events{{"a", 5}, {"a", 10}, {"a", 9}, {"a", 8}, {"a", 11}, {"a", 22}, {"a", 12}, {"a", 23}};
  const auto results = pipeline
                           .generate([events](std::uint64_t number) { return events[number]; },
                                     {.count = events.size()}, {.replicas = 1})
                           .event_time(time_of)
                           .key_by(key_of)
                           .window(Windows::tumbling(milliseconds(10)), time_of)
                           .count();
  write(results, files.output());
  results.late().write(files.path() / "late",
                       [](const Event& event, Output& out) { out.line(event.key, ' ', event.time); });
  EXPECT_EQ(run_pipeline(pipeline, {}), "");
  EXPECT_EQ(files.lines(), (Lines{"a 0 10 1", "a 10 20 2", "a 20 30 2"}));
  EXPECT_EQ(files.lines("late"), (Lines{"a 9", "a 8", "a 12"}));
}

TEST(WindowsTest, AnEventIsInAllSlidingWindowsOverIt) {
  EXPECT_EQ(counts(Windows::sliding(milliseconds(10), milliseconds(5)), {{"a", 0}, {"a", 7}}),
            (Lines{"a -5 5 1", "a 0 10 2", "a 5 15 1"}));
}

TEST(WindowsTest, SessionsGrowTogether) {
  EXPECT_EQ(counts(Windows::session(milliseconds(10)),
                   {{"a", 0}, {"a", 9}, {"b", 9}, {"a", 19}, {"a", 40}, {"a", 35}, {"a", 28}}, {}, nullptr,
                   milliseconds(100)),
            (Lines{"a 0 19 2", "a 19 50 4", "b 9 19 1"}));
  EXPECT_EQ(counts(Windows::session(milliseconds(10)), {{"a", 0}, {"a", 10}}), (Lines{"a 0 10 1", "a 10 20 1"}));
}

TEST(WindowsTest, AWindowFiresAgainForEachLateEvent) {
  Lines late;
  // The watermark is the latest time: 25 ends the first two windows, and 31 the lateness of the first.
  const std::vector<Event> events{{"a", 5}, {"a", 25}, {"a", 6}, {"a", 7}, {"b", 8}, {"a", 31}, {"a", 9}, {"a", 12}};
  EXPECT_EQ(counts(Windows::tumbling(milliseconds(10)), events, {.lateness = milliseconds(20)}, &late),
            (Lines{"a 0 10 1", "a 0 10 2", "a 0 10 3", "b 0 10 1", "a 10 20 1", "a 20 30 1", "a 30 40 1"}));
  EXPECT_EQ(late, (Lines{"a 9"}));
}

TEST(WindowsTest, WithoutLatenessWhatIsLateGoesToTheSideOutput) {
  Lines late;
  EXPECT_EQ(counts(Windows::tumbling(milliseconds(10)), {{"a", 5}, {"a", 10}, {"a", 9}, {"a", 11}}, {}, &late),
            (Lines{"a 0 10 1", "a 10 20 2"}));
  EXPECT_EQ(late, (Lines{"a 9"}));
  EXPECT_EQ(counts(Windows::session(milliseconds(10)), {{"a", 5}, {"a", 30}, {"a", 9}, {"b", 21}}, {}, &late),
            (Lines{"a 5 15 1", "a 30 40 1", "b 21 31 1"}));
  EXPECT_EQ(late, (Lines{"a 9"}));
}

TEST(WindowsTest, DisorderHoldsTheWatermarkBack) {
  EXPECT_EQ(counts(Windows::tumbling(milliseconds(10)), {{"a", 5}, {"a", 14}, {"a", 9}}, {}, nullptr, milliseconds(5)),
            (Lines{"a 0 10 2", "a 10 20 1"}));
}

TEST(WindowsTest, ALateEventJoinsASessionThatHasFired) {
  EXPECT_EQ(
      counts(Windows::session(milliseconds(10)), {{"a", 5}, {"a", 20}, {"a", 14}}, {.lateness = milliseconds(50)}),
      (Lines{"a 5 15 1", "a 5 30 3"}));
}

// Counts in windows of 10 ms, with events that are more than 100 ms later than others from the future.
struct FutureEnd {
  Lines counts{};
  Lines late{};
  Lines future{};
};
FutureEnd counts_with_future(std::vector<Event> events) {
  const PipelineFiles files;
  Pipeline pipeline;
  const auto timed = events_of(pipeline, std::move(events), {}, milliseconds(100));
  const auto results = timed.key_by(key_of).window(Windows::tumbling(milliseconds(10)), time_of).count();
  const auto write_event = [](const Event& event, Output& out) { out.line(event.key, ' ', event.time); };
  for (const char* const name : {"output", "late", "future"}) std::filesystem::create_directories(files.path() / name);
  write(results, files.output());
  results.late().write(files.path() / "late", write_event);
  timed.future().write(files.path() / "future", write_event);
  EXPECT_EQ(run_pipeline(pipeline, {}), "");
  return {files.lines(), files.lines("late"), files.lines("future")};
}

TEST(WindowsTest, AnEventFromTheFutureMovesNoWatermark) {
  const FutureEnd end = counts_with_future({{"a", 5}, {"a", 6}, {"a", 7000}, {"a", 8}, {"b", 15}, {"b", 9}});
  EXPECT_EQ(end.counts, (Lines{"a 0 10 3", "b 10 20 1"}));
  EXPECT_EQ(end.late, (Lines{"b 9"}));
  EXPECT_EQ(end.future, (Lines{"a 7000"}));
}

TEST(WindowsTest, TheFirstEventMayBeFromTheFuture) {
  const FutureEnd end = counts_with_future({{"a", 7000}, {"a", 5}, {"a", 6}, {"a", 15}, {"a", 7}});
  EXPECT_EQ(end.counts, (Lines{"a 0 10 2", "a 10 20 1", "a 7000 7010 1"}));
  EXPECT_EQ(end.late, (Lines{"a 7"}));
}

TEST(WindowsTest, TimeThatPassesWithoutEventsIsNotTheFuture) {
  std::vector<Event> events{{"a", 5}, {"a", 6}};
  for (int i = 0; i < 8; ++i) events.push_back({"a", 7000 + i % 2});
  events.push_back({"a", 8});          // late now
  events.push_back({"a", 9'000'000});  // at the end nothing contradicts it
  const FutureEnd end = counts_with_future(events);
  EXPECT_EQ(end.counts, (Lines{"a 0 10 2", "a 7000 7010 8", "a 9000000 9000010 1"}));
  EXPECT_EQ(end.late, (Lines{"a 8"}));
  EXPECT_EQ(end.future, Lines());
}

TEST(WindowsTest, EventsThatAreFarApartAllCount) {
  std::vector<Event> events;
  Lines expected;
  for (int i = 0; i < 30; ++i) {
    events.push_back({"a", 1000 * i});
    expected.insert("a " + std::to_string(1000 * i) + " " + std::to_string(1000 * i + 10) + " 1");
  }
  const FutureEnd end = counts_with_future(events);
  EXPECT_EQ(end.counts, expected);
  EXPECT_EQ(end.future, Lines());
}

TEST(WindowsTest, AGroupHasTheEventsOfItsWindow) {
  const PipelineFiles files;
  Pipeline pipeline;
  events_of(pipeline, {{"a", 1}, {"b", 2}, {"a", 3}, {"a", 12}})
      .key_by(key_of)
      .window(Windows::tumbling(milliseconds(10)), time_of)
      .group<std::string>(
          [](const std::string& key, const Window& window, const std::vector<Event>& events, auto& out) {
            std::string line = key + " " + std::to_string(window.begin);
            for (const Event& one : events) line += " " + std::to_string(one.time);
            out(line);
          })
      .write(files.output(), [](const std::string& line, Output& out) { out.line(line); });
  ASSERT_EQ(run_pipeline(pipeline, {}), "");
  EXPECT_EQ(files.lines(), (Lines{"a 0 1 3", "b 0 2", "a 10 12"}));
}

TEST(WindowsTest, AJoinIsOfEventsInTheSameWindow) {
  const PipelineFiles files;
  Pipeline pipeline;
  const auto left = events_of(pipeline, {{"a", 1}, {"b", 2}, {"a", 12}, {"b", 25}});
  const auto right =
      pipeline
          .source<Event>(
              {.name = "others", .replicas = 1},
              [](dataflow::StageSite&) {
                return std::make_unique<Listed>(std::vector<Event>{{"a", 4}, {"a", 5}, {"b", 11}, {"a", 19}});
              })
          .event_time(time_of);
  left.key_by(key_of)
      .window(Windows::tumbling(milliseconds(10)), time_of)
      .join(right.key_by(key_of), time_of,
            [](const Event& one, const Event& other) {
              return one.key + std::to_string(one.time) + "-" + std::to_string(other.time);
            })
      .write(files.output(), [](const std::string& line, Output& out) { out.line(line); });
  ASSERT_EQ(run_pipeline(pipeline, {}), "");
  EXPECT_EQ(files.lines(), (Lines{"a1-4", "a1-5", "a12-19"}));
}

// Events of many keys: each window has 500 of them.
Flow<Event> crowd(const Pipeline& pipeline, std::uint64_t count) {
  return pipeline
      .generate(
          [](std::uint64_t number) {
            return Event{"key" + std::to_string(number), static_cast<EventTime>(number / 500)};
          },
          {.count = count}, {.name = "crowd", .replicas = 1})
      .event_time(time_of);
}

// A restart, which would fail likewise, costs an hour.
std::string failure_of(const Pipeline& pipeline) {
  return run_pipeline(pipeline, {.memory = 1 << 20, .restarts = 3, .restart_after = std::chrono::hours(1)});
}

TEST(WindowsTest, WindowsThatAreGoneNeedNoMemory) {
  const PipelineFiles files;
  Pipeline pipeline;
  const auto windows = crowd(pipeline, 100'000).key_by(key_of).window(Windows::tumbling(milliseconds(1)), time_of);
  const auto sessions = crowd(pipeline, 100'000).key_by(key_of).window(Windows::session(milliseconds(1)), time_of);
  write(windows.count(), files.output());
  write(sessions.count(), files.path() / "sessions");
  ASSERT_EQ(failure_of(pipeline), "");
  EXPECT_EQ(files.lines().size(), 100'000U);
  EXPECT_EQ(files.lines("sessions").size(), 100'000U);
}

// The one key needs more and more.
TEST(WindowsTest, TheEventsOfAWindowHaveTheirPlaceInMemory) {
  const PipelineFiles files;
  Pipeline pipeline;
  crowd(pipeline, 100'000)
      .key_by([](const Event&) { return 0; }, {.name = "group"})
      .window(Windows::tumbling(std::chrono::hours(1)), time_of)
      .group<int>([](int, const Window&, const std::vector<Event>&, auto&) {})
      .write(files.output(), [](int, Output&) {});
  const std::string failure = failure_of(pipeline);
  EXPECT_NE(failure.find("the windows of the stage group need more than PipelineOptions::memory"), std::string::npos)
      << failure;
}

// As bytes they fit into it, as a vector of events they do not.
TEST(WindowsTest, TheVectorOfAWindowsEventsHasItsPlaceInMemory) {
  const PipelineFiles files;
  Pipeline pipeline;
  const std::vector<Event> events(30'000, {"a", 1});
  events_of(pipeline, events)
      .key_by(key_of)
      .window(Windows::tumbling(milliseconds(10)), time_of)
      .group<int>([](const std::string&, const Window&, const std::vector<Event>&, auto&) {})
      .write(files.output(), [](int, Output&) {});
  const std::string failure = run_pipeline(pipeline, {.replicas = 1, .memory = std::uint64_t{1} << 20, .restarts = 1});
  EXPECT_NE(failure.find("the events of the window from 0 to 10 of the key \"a\" of the stage "), std::string::npos)
      << failure;
  EXPECT_NE(failure.find("make several keys of this one"), std::string::npos) << failure;
}

TEST(WindowsTest, StatesOfKeysThatNeedTooMuchMemoryEndTheRunWithASentence) {
  const PipelineFiles files;
  Pipeline pipeline;
  crowd(pipeline, 100'000)
      .key_by(key_of, {.name = "last"})
      .with_state<std::string, int>(
          [](const std::string&, std::string& state, const Event& event, auto&) { state = event.key; })
      .write(files.output(), [](int, Output&) {});
  const std::string failure = failure_of(pipeline);
  EXPECT_NE(failure.find("the states of keys of the stage last need more than PipelineOptions::memory"),
            std::string::npos)
      << failure;
}

}  // namespace
}  // namespace lp
