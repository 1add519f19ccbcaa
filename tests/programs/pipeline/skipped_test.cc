// Records that are left out of sums, windows, groups, joins and files.

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/programs/pipeline/pipeline_run.h"

namespace lp {
namespace {

using test::Identity;
using test::PipelineFiles;
using test::result_of;
using test::run_pipeline;

using Lines = std::multiset<std::string>;
using std::chrono::milliseconds;

std::uint64_t no_three(std::uint64_t number) {
  if (number == 3) throw std::out_of_range("number");
  return number;
}

// 0 to 9.
Flow<std::uint64_t> ten(const Pipeline& pipeline) {
  return pipeline.generate(Identity(), {.count = 10}, {.replicas = 1});
}

// The lines that a run leaves in "output" with one record left out.
Lines without_one(const Pipeline& pipeline, const PipelineFiles& files) {
  EXPECT_EQ(result_of(pipeline, {.memory = 1 << 20, .skip_records = 1}).skipped, 1U);
  return files.lines();
}

void write_pairs(const Flow<std::pair<std::uint64_t, std::uint64_t>>& flow, const PipelineFiles& files) {
  flow.write(files.output(), [](const auto& one, Output& out) { out.line(one.first, ' ', one.second); });
}

void add(std::uint64_t& sum, std::uint64_t number) {
  sum += 100;  // so a sum that a failure had changed would show
  sum += no_three(number) - 100;
}
void merge(std::uint64_t& sum, std::uint64_t other) { sum += other; }

TEST(SkippedTest, ASumDoesWithoutARecordThatCannotBeAdded) {
  for (const std::uint64_t keys : {2U, 10U}) {  // alone, the record makes no sum
    const PipelineFiles files;
    Pipeline pipeline;
    write_pairs(ten(pipeline)
                    .key_by([keys](std::uint64_t number) { return number % keys; })
                    .aggregate<std::uint64_t>(add, merge),
                files);
    testing::internal::CaptureStderr();
    const Lines lines = without_one(pipeline, files);
    const std::string log = testing::internal::GetCapturedStderr();
    const std::string record =
        "the record of the number 3, of the key " + std::to_string(3 % keys) + ", cannot be used: ";
    EXPECT_NE(log.find(record), std::string::npos) << log;
    if (keys == 2) {
      EXPECT_EQ(lines, (Lines{"0 20", "1 22"}));
    } else {
      EXPECT_EQ(lines.size(), 9U);
      EXPECT_EQ(lines.count("3 0"), 0U);
    }
  }
}

TEST(SkippedTest, AWindowDoesWithoutAnEventThatCannotBeAdded) {
  const auto time_of = [](std::uint64_t number) { return static_cast<EventTime>(number); };
  for (const bool combine : {false, true}) {
    for (const auto& [windows, expected] : std::vector<std::pair<Windows, Lines>>{
             {Windows::tumbling(milliseconds(5)), {"0 7", "5 35"}},
             {Windows::sliding(milliseconds(10), milliseconds(5)), {"-5 7", "0 42", "5 35"}},
             {Windows::session(milliseconds(2)), {"0 3", "4 39"}}}) {
      const PipelineFiles files;
      Pipeline pipeline;
      ten(pipeline)
          .event_time(time_of)
          .key_by([](std::uint64_t) { return 0; })
          .window(windows, time_of, {.combine = combine})
          .aggregate<std::uint64_t>(add, merge)
          .write(files.output(), [](const auto& one, Output& out) { out.line(one.window.begin, ' ', one.value); });
      testing::internal::CaptureStderr();
      EXPECT_EQ(without_one(pipeline, files), expected);
      const std::string log = testing::internal::GetCapturedStderr();
      EXPECT_NE(log.find("of the key 0, cannot be used: "), std::string::npos) << log;
    }
  }
}

TEST(SkippedTest, AnEventWithoutATimeIsInNoWindow) {
  const PipelineFiles files;
  Pipeline pipeline;
  ten(pipeline)
      .event_time([](std::uint64_t number) { return static_cast<EventTime>(number); })
      .key_by([](std::uint64_t) { return 0; })
      .window(Windows::tumbling(milliseconds(5)),
              [](std::uint64_t number) { return static_cast<EventTime>(no_three(number)); })
      .count()
      .write(files.output(), [](const auto& one, Output& out) { out.line(one.window.begin, ' ', one.value); });
  EXPECT_EQ(without_one(pipeline, files), (Lines{"0 4", "5 5"}));
}

TEST(SkippedTest, AKeyOnWhoseRecordsAFunctionFailsIsLeftOutWithAllThatWasMadeOfIt) {
  const PipelineFiles files;
  for (const bool cached : {false, true}) {
    Pipeline pipeline;
    const auto keyed = ten(pipeline).key_by([](std::uint64_t number) { return number % 5; });
    const auto twice = [](std::uint64_t key, auto&, auto& out) {
      out(key);
      out(10 + no_three(key));
    };
    const auto results = cached ? keyed.cache().group<std::uint64_t>(twice) : keyed.group<std::uint64_t>(twice);
    const std::string into = cached ? "cached" : "output";
    results.write(files.path() / into, [](std::uint64_t number, Output& out) { out.line(number); });
    const std::string failure = run_pipeline(pipeline, {.restarts = 0});
    EXPECT_NE(failure.find("the records of the key 3 cannot be used: std::out_of_range: number"), std::string::npos)
        << failure;
    EXPECT_EQ(result_of(pipeline, {.skip_records = 1}).skipped, 1U);
    EXPECT_EQ(files.lines(into), (Lines{"0", "1", "2", "4", "10", "11", "12", "14"}));
  }
}

TEST(SkippedTest, APairThatCannotBeJoinedIsLeftOutAlone) {
  const PipelineFiles files;
  Pipeline pipeline;
  const auto key_of = [](std::uint64_t number) { return number % 5; };
  write_pairs(ten(pipeline).key_by(key_of).join(
                  ten(pipeline).filter([](std::uint64_t number) { return number < 5; }).key_by(key_of),
                  [](std::uint64_t left, std::uint64_t right) { return std::pair(no_three(left), right); }),
              files);
  EXPECT_EQ(without_one(pipeline, files), (Lines{"0 0", "1 1", "2 2", "4 4", "5 0", "6 1", "7 2", "8 3", "9 4"}));
}

TEST(SkippedTest, ARecordThatCannotBeWrittenLeavesNoBytes) {
  for (const std::size_t size : {3U, 600'000U}) {  // also when some of them are on disk by then
    const PipelineFiles files;
    Pipeline pipeline;
    ten(pipeline).write(files.output(), [size](std::uint64_t number, Output& out) {
      out.write(std::string(size, 'x'));
      out.line(no_three(number));
    });
    Lines expected;
    for (const char* const number : {"0", "1", "2", "4", "5", "6", "7", "8", "9"}) {
      expected.insert(std::string(size, 'x') + number);
    }
    EXPECT_EQ(without_one(pipeline, files), expected);
  }
}

// They wait in memory until the function has ended.
TEST(SkippedTest, ARecordOfWhichTooMuchWasMadeCannotBeLeftOut) {
  const auto failure_with = [](int texts) {
    const PipelineFiles files;
    Pipeline pipeline;
    ten(pipeline)
        .flat_map<std::string>([texts](std::uint64_t number, auto& out) {
          for (int i = 0; i < texts; ++i) out(std::string(1000, 'x'));
          out(std::to_string(no_three(number)));
        })
        .write(files.output(), [](const std::string& text, Output& out) { out.line(text); });
    return run_pipeline(pipeline, {.memory = 1 << 20, .skip_records = 1, .restarts = 0});
  };
  EXPECT_EQ(failure_with(100), "");
  const std::string failure = failure_with(400);
  EXPECT_NE(failure.find("the record of the number 3 cannot be used: std::out_of_range: number; it cannot be left out, "
                         "because some of what was made of it before is handed on: more than 256K, a quarter of "
                         "PipelineOptions::memory"),
            std::string::npos)
      << failure;
}

}  // namespace
}  // namespace lp
