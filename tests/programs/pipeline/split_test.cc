// Joins whose left records are divided among several replicas.

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/error_of.h"
#include "tests/programs/pipeline/listed_events.h"
#include "tests/programs/pipeline/pipeline_run.h"

namespace lp {
namespace {

using test::Event;
using test::events_of;
using test::Identity;
using test::PipelineFiles;
using test::result_of;
using test::run_pipeline;

using Lines = std::multiset<std::string>;
using std::chrono::milliseconds;

// Nearly all of the numbers have the key 7.
std::uint64_t hot_key(std::uint64_t number) { return number % 10 == 1 ? number % 100 : 7; }

TEST(SplitTest, AJoinThatIsSplitHasTheSamePairs) {
  Lines expected;
  for (const int split : {1, 2, 5}) {
    const PipelineFiles files;
    Pipeline pipeline;
    const auto numbers = [&](std::uint64_t count) { return pipeline.generate(Identity(), {.count = count}); };
    numbers(5000)
        .key_by(hot_key, {.name = "join"})
        .join(
            numbers(30).key_by(hot_key),
            [](std::uint64_t left, std::uint64_t right) { return std::to_string(left) + " " + std::to_string(right); },
            split)
        .write(files.output(), [](const std::string& text, Output& out) { out.line(text); });
    const PipelineResult result = result_of(pipeline, {.replicas = 3, .memory = 1 << 20});
    if (split == 1) {
      expected = files.lines();
      EXPECT_GT(expected.size(), 100'000U);
    }
    EXPECT_EQ(files.lines(), expected);
    EXPECT_EQ(result.skew.empty(), split > 2) << result.skew;
  }
}

TEST(SplitTest, AJoinInWindowsThatIsSplitHasTheSamePairs) {
  const std::vector<Event> lefts{{"a", 1}, {"a", 2}, {"b", 8}, {"a", 12}, {"a", 25}};
  const std::vector<Event> rights{{"a", 4}, {"a", 5}, {"b", 11}, {"a", 19}, {"a", 27}};
  const auto lines = [&](int split) {
    const PipelineFiles files;
    Pipeline pipeline;
    const auto key_of = [](const Event& event) { return event.key; };
    const auto joined = events_of(pipeline, lefts)
                            .key_by(key_of)
                            .window(Windows::sliding(milliseconds(10), milliseconds(5)), test::time_of)
                            .join(
                                events_of(pipeline, rights).key_by(key_of), test::time_of,
                                [](const Event& one, const Event& other) {
                                  return one.key + std::to_string(one.time) + "-" + std::to_string(other.time);
                                },
                                split);
    joined.write(files.output(), [](const std::string& text, Output& out) { out.line(text); });
    joined.late().write(files.path() / "late",
                        [](const auto& one, Output& out) { out.line(one.left ? "left" : "right"); });
    EXPECT_EQ(run_pipeline(pipeline, {.replicas = 3}), "");
    EXPECT_FALSE(std::filesystem::exists(files.path() / "late"));
    return files.lines();
  };
  const Lines whole = lines(1);
  EXPECT_EQ(whole.count("a1-4"), 2U);
  EXPECT_EQ(whole.count("b8-11"), 1U);
  EXPECT_EQ(lines(3), whole);
}

TEST(SplitTest, WhatCannotBeSplitIsRefused) {
  Pipeline pipeline;
  const auto keyed = events_of(pipeline, {}).key_by([](const Event& event) { return event.key; });
  const auto pair = [](const Event&, const Event&) { return 0; };
  EXPECT_EQ(test::error_of([&] { keyed.join(keyed, pair, 0); }), "a join is split among 1 to 128 parts");
  EXPECT_EQ(test::error_of([&] {
              keyed.window(Windows::session(milliseconds(1)), test::time_of).join(keyed, test::time_of, pair, 2);
            }),
            "a join in sessions cannot be split: their ends depend on all events of a key");
}

}  // namespace
}  // namespace lp
