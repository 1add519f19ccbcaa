// Windows that are larger than the memory: they have the results that they have in a large memory.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "lp/program/scratch.h"
#include "tests/programs/pipeline/listed_events.h"
#include "tests/programs/pipeline/pipeline_run.h"

namespace lp {
namespace {

using test::Event;
using test::events_of;
using test::PipelineFiles;
using test::run_pipeline;

using Lines = std::multiset<std::string>;
using std::chrono::milliseconds;

constexpr std::uint64_t kSmall = std::uint64_t{1} << 20;
constexpr std::uint64_t kLarge = std::uint64_t{1} << 28;

// Events of many long keys, which need several times kSmall, from about the same time; some are late.
std::vector<Event> long_events(std::uint64_t count, std::uint64_t keys) {
  std::vector<Event> events;
  std::uint64_t random = 1;
  const auto next = [&](std::uint64_t below) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return (random >> 33) % below;
  };
  for (std::uint64_t number = 0; number < count; ++number) {
    const std::string key = std::to_string(next(keys));
    const std::uint64_t behind = next(10) == 0 ? next(count) : next(20);
    events.push_back({key + std::string(800, 'k'), static_cast<EventTime>(number) - static_cast<EventTime>(behind)});
  }
  return events;
}

std::size_t files_below(const std::filesystem::path& folder) {
  std::size_t files = 0;
  std::error_code gone;  // while they are counted
  for (std::filesystem::recursive_directory_iterator at(folder, gone), end; at != end; at.increment(gone)) {
    files += at->is_directory(gone) ? 0 : 1;
  }
  return files;
}

struct SpillEnd {
  Lines results{};
  Lines late{};
  std::size_t runs = 0;  // the most at a time, as far as the results see it
  auto operator<=>(const SpillEnd&) const = default;
};

template <class Key>
std::string short_key(const Key& key) {
  return std::string(key.substr(0, key.find('k')));
}

// The counts, and the times of all events, of windows.
SpillEnd end_with(std::uint64_t memory, Windows windows, const std::vector<Event>& events, Duration lateness,
                  bool combine = false) {
  const PipelineFiles files;
  Pipeline pipeline;
  std::atomic<std::size_t> runs = 0, written = 0;
  const auto scratch = files.path() / "scratch";
  const auto windowed = events_of(pipeline, events)
                            .key_by([](const Event& event) { return event.key; })
                            .window(windows, test::time_of, {.lateness = lateness, .combine = combine});
  const auto counts = windowed.count();
  counts.write(files.output(), [&](const auto& one, Output& out) {
    if (written++ % 8 == 0) runs = std::max(runs.load(), files_below(scratch));
    out.line(short_key(one.key), ' ', one.window.begin, ' ', one.window.end, ' ', one.value);
  });
  const auto write_event = [](const Event& event, Output& out) { out.line(short_key(event.key), ' ', event.time); };
  counts.late().write(files.path() / "late", write_event);
  EXPECT_EQ(run_pipeline(pipeline, {.replicas = 1, .scratch = scratch, .memory = memory, .restarts = 0}), "");
  SpillEnd end{.results = files.lines(), .runs = runs};
  if (std::filesystem::exists(files.path() / "late")) end.late = files.lines("late");
  return end;
}

std::vector<Windows> all_kinds(Duration size) {
  return {Windows::tumbling(size), Windows::sliding(size, size / 4), Windows::session(size / 2)};
}

TEST(WindowSpillTest, WindowsThatAreLargerThanTheMemoryHaveTheSameResults) {
  const std::vector<Event> events = long_events(6000, 4000);
  for (const Windows& windows : all_kinds(milliseconds(4000))) {
    for (const Duration lateness : {milliseconds(0), milliseconds(500)}) {
      const SpillEnd small = end_with(kSmall, windows, events, lateness);
      const SpillEnd large = end_with(kLarge, windows, events, lateness);
      EXPECT_EQ(small.results, large.results);
      EXPECT_EQ(small.late, large.late);
      EXPECT_GT(small.runs, 1U);
      EXPECT_EQ(large.runs, 0U);
    }
  }
}

// They are sent on when memory is full.
TEST(WindowSpillTest, SumsThatAreMadeBeforeTheEventsAreDividedHaveTheSameResults) {
  const std::vector<Event> events = long_events(3000, 2000);
  for (const Windows& windows : all_kinds(milliseconds(2000))) {
    const SpillEnd small = end_with(kSmall, windows, events, milliseconds(100), /*combine=*/true);
    const SpillEnd large = end_with(kLarge, windows, events, milliseconds(100));
    EXPECT_EQ(small.results, large.results);
    EXPECT_EQ(small.late, large.late);
  }
}

TEST(WindowSpillTest, GroupsHaveTheirEventsInTheOrderInWhichTheyCame) {
  const std::vector<Event> events = long_events(6000, 50);
  const auto lines = [&](std::uint64_t memory, const Windows& windows) {
    const PipelineFiles files;
    Pipeline pipeline;
    events_of(pipeline, events, milliseconds(6000))
        .key_by([](const Event& event) { return event.key; })
        .window(windows, test::time_of)
        .group<std::string>(
            [](const std::string& key, const Window& window, const std::vector<Event>& group, auto& out) {
              std::string line = short_key(key) + " " + std::to_string(window.end) + ":";
              for (const Event& one : group) line += " " + std::to_string(one.time);
              out(line);
            })
        .write(files.output(), [](const std::string& line, Output& out) { out.line(line); });
    EXPECT_EQ(run_pipeline(pipeline, {.replicas = 1, .memory = memory, .restarts = 0}), "");
    return files.lines();
  };
  for (const Windows& windows : {Windows::tumbling(milliseconds(3000)), Windows::session(milliseconds(6000))}) {
    EXPECT_EQ(lines(kSmall, windows), lines(kLarge, windows));
  }
}

// A stream without an end would fill the disk.
TEST(WindowSpillTest, RunsAreRemovedWhenTheirWindowsAreGone) {
  const std::vector<Event> events = long_events(12'000, 12'000);
  for (const Windows& windows : all_kinds(milliseconds(4000))) {
    const SpillEnd end = end_with(kSmall, windows, events, milliseconds(0));
    EXPECT_GT(end.runs, 1U);
    EXPECT_LT(end.runs, 40U) << "more than 50 were written, except in tumbling windows";
  }
}

TEST(WindowSpillTest, ARestartGoesOnWithTheRunsOfTheLastCheckpoint) {
  const std::vector<Event> events = long_events(6000, 4000);
  for (const Windows& windows : all_kinds(milliseconds(4000))) {
    const PipelineFiles files;
    Pipeline pipeline;
    std::atomic<bool> failed = false;
    const auto counts = events_of(pipeline, events, {}, std::chrono::hours(24), /*wait_at=*/3000)
                            .key_by(
                                [&](const Event& event) {
                                  if (event.time > 4500 && !failed.exchange(true))
                                    throw std::runtime_error("only this time");
                                  return event.key;
                                },
                                {.replicas = 1})
                            .window(windows, test::time_of)
                            .count();
    counts.write(files.output(), [](const auto& one, Output& out) {
      out.line(short_key(one.key), ' ', one.window.begin, ' ', one.window.end, ' ', one.value);
    });
    ASSERT_EQ(run_pipeline(pipeline,
                           {.scratch = files.path() / "scratch",
                            .memory = kSmall,
                            .checkpoint_every = milliseconds(5),
                            .restart_after = milliseconds(1)},
                           {.directory = files.path() / "run"}),
              "");
    EXPECT_TRUE(failed);
    EXPECT_EQ(files.lines(), end_with(kLarge, windows, events, {}).results);
    EXPECT_EQ(files_below(files.path() / "scratch"), 0U);
  }
}

// It has the files of the other run as its own.
TEST(WindowSpillTest, ARunThatGoesOnFromAnotherOneNeedsItNoLonger) {
  const std::vector<Event> events = long_events(6000, 4000);
  const PipelineFiles files;
  const std::filesystem::path first = files.path() / "first", scratch = files.path() / "scratch";
  const auto run_with = [&](const std::function<void(const Event&)>& see, const PipelineOptions& options,
                            const char* directory) {
    Pipeline pipeline;
    const auto counts = events_of(pipeline, events, {}, std::chrono::hours(24), /*wait_at=*/3000)
                            .key_by(
                                [&](const Event& event) {
                                  see(event);
                                  return event.key;
                                },
                                {.replicas = 1})
                            .window(Windows::tumbling(milliseconds(4000)), test::time_of)
                            .count();
    counts.write(files.output(), [](const auto& one, Output& out) {
      out.line(short_key(one.key), ' ', one.window.begin, ' ', one.window.end, ' ', one.value);
    });
    return run_pipeline(pipeline, options, {.directory = files.path() / directory});
  };
  PipelineOptions options{.scratch = scratch, .memory = kSmall, .checkpoint_every = milliseconds(5), .restarts = 0};
  const auto fail_late = [](const Event& event) {
    if (event.time > 3500) throw std::runtime_error("it is late");
  };
  EXPECT_NE(run_with(fail_late, options, "first"), "");
  EXPECT_GT(files_below(scratch), 1U);
  options.from = first;
  const auto remove_first = [&](const Event&) {
    if (!std::filesystem::exists(first)) return;
    remove_scratch(first, ScratchLife::cuts);
    std::filesystem::remove_all(first);
  };
  EXPECT_EQ(run_with(remove_first, options, "second"), "");
  EXPECT_EQ(files.lines(), end_with(kLarge, Windows::tumbling(milliseconds(4000)), events, {}).results);
  EXPECT_EQ(files_below(scratch), 0U);
}

}  // namespace
}  // namespace lp
