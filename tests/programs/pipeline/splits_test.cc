// A source that reads several files: events that are in order in their file are not late, whoever reads it, and when.

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launchers/test_run.h"
#include "lp/base/file.h"
#include "tests/programs/pipeline/pipeline_run.h"

namespace lp {
namespace {

using test::PipelineFiles;
using test::run_pipeline;

using Lines = std::multiset<std::string>;
using std::chrono::milliseconds;

EventTime number_of(std::string_view line) { return std::stoll(std::string(line)); }

// Counts times in windows of 10, and writes those that are late, apart.
void count_times(const Flow<std::string_view>& lines, const PipelineFiles& files) {
  const auto time_of = [](EventTime time) { return time; };
  const auto counts = lines.map(number_of)
                          .event_time(time_of)
                          .key_by([](EventTime) { return 0; }, {.name = "count", .replicas = 1})
                          .window(Windows::tumbling(milliseconds(10)), time_of)
                          .count();
  counts.write(files.output(), [](const auto& one, Output& out) { out.line(one.window.begin, ' ', one.value); });
  counts.late().write(files.path() / "late", [](EventTime time, Output& out) { out.line(time); });
}

std::string times(EventTime from, EventTime to, EventTime step = 1) {
  std::string out;
  for (EventTime time = from; time < to; time += step) out += std::to_string(time) + "\n";
  return out;
}

// The lines of all windows of 10 from..to, each with so many events.
Lines windows(EventTime from, EventTime to, int events) {
  Lines out;
  for (EventTime begin = from; begin < to; begin += 10) {
    out.insert(std::to_string(begin) + " " + std::to_string(events));
  }
  return out;
}

bool none_late(const PipelineFiles& files) { return !std::filesystem::exists(files.path() / "late"); }

TEST(SplitsTest, FilesInStepHaveNoLateEventsWhoeverReadsThem) {
  for (const int replicas : {1, 2, 3}) {
    for (const std::uint64_t split_bytes : {std::uint64_t{1} << 20, std::uint64_t{5000}}) {
      const PipelineFiles files;
      for (int i = 0; i < 4; ++i) files.write("log" + std::to_string(i), times(0, 20'000));
      Pipeline pipeline;
      count_times(pipeline.read({.paths = {files.input().string()}, .split_bytes = split_bytes}), files);
      EXPECT_EQ(run_pipeline(pipeline, {.replicas = replicas}), "");
      EXPECT_EQ(files.lines(), windows(0, 20'000, 40));
      EXPECT_TRUE(none_late(files)) << replicas << " replicas";
    }
  }
}

// More than are open at once; one after the other, against the order of their names.
TEST(SplitsTest, ALogThatWasRotatedHasNoLateEvents) {
  const PipelineFiles files;
  for (int i = 0; i < 40; ++i) files.write("log." + std::to_string(100 - i), times(3000 * i, 3000 * (i + 1)));
  Pipeline pipeline;
  count_times(pipeline.read({.paths = {files.input().string()}}, {.name = "read", .replicas = 1}), files);
  EXPECT_EQ(run_pipeline(pipeline, {}), "");
  EXPECT_EQ(files.lines(), windows(0, 120'000, 10));
  EXPECT_TRUE(none_late(files));
}

TEST(SplitsTest, AnEventThatIsBehindAllFilesIsLate) {
  const PipelineFiles files;
  files.write("a", "1\n2\n31\n32\n3\n33\n");
  files.write("b", "31\n32\n33\n34\n");
  Pipeline pipeline;
  count_times(pipeline.read({.paths = {files.input().string()}}, {.name = "read", .replicas = 1}), files);
  EXPECT_EQ(run_pipeline(pipeline, {}), "");
  EXPECT_EQ(files.lines(), (Lines{"0 2", "30 7"}));
  EXPECT_EQ(files.lines("late"), (Lines{"3"}));
}

// Files that are far apart would be from the future for one another.
TEST(SplitsTest, AFileOfAnotherYearHasNoEventsFromTheFuture) {
  const PipelineFiles files;
  constexpr EventTime kYear = 31'536'000'000;
  files.write("a", times(0, 100));
  files.write("b", times(kYear, kYear + 100));
  Pipeline pipeline;
  count_times(pipeline.read({.paths = {files.input().string()}}, {.name = "read", .replicas = 1}), files);
  EXPECT_EQ(run_pipeline(pipeline, {}), "");
  Lines expected = windows(0, 100, 10);
  expected.merge(windows(kYear, kYear + 100, 10));
  EXPECT_EQ(files.lines(), expected);
  EXPECT_TRUE(none_late(files));
}

// A pipeline that follows files, and whose results are looked at while it runs.
class FollowedSplitsTest : public testing::Test {
 protected:
  void start(Duration idle_after, const std::string& from = {}) {
    for (const auto& one : {files_.output(), files_.path() / "read"}) std::filesystem::create_directories(one);
    Pipeline pipeline;
    const auto lines = pipeline.follow({.paths = {files_.input().string()}, .until = until_, .look_every = kForever},
                                       {.name = "lines"});
    count_times(lines, files_);
    test::write_lines(lines, files_.path() / "read");
    Program program("test");
    add_pipeline(program, pipeline,
                 {.replicas = 1, .checkpoint_every = milliseconds(5), .from = from, .idle_after = idle_after});
    run_.emplace(std::move(program), LaunchOptions{.directory = files_.path() / ("run" + std::to_string(++runs_))});
  }
  void append(const std::string& name, const std::string& lines) const {
    std::filesystem::create_directories(files_.input());
    std::ofstream(files_.input() / name, std::ios::app) << lines;
  }
  void wait_for(const Lines& lines, const std::string& where = "output") {
    for (const Time end = after(std::chrono::seconds(60)); !passed(end) && files_.lines(where) != lines;)
      run_->wait_for(milliseconds(1));
    EXPECT_EQ(files_.lines(where), lines);
  }
  void wait_for_lines(std::size_t count) {
    for (const Time end = after(std::chrono::seconds(60)); !passed(end) && files_.lines("read").size() != count;)
      run_->wait_for(milliseconds(1));
    EXPECT_EQ(files_.lines("read").size(), count);
  }
  // Returns the directory of the run.
  std::string stop() {
    run_->stop("enough");
    run_.reset();
    return files_.path() / ("run" + std::to_string(runs_));
  }
  void end_with(const Lines& lines) {
    write_file(until_, "");
    EXPECT_TRUE(run_->wait().success) << run_->wait().cause.text();
    EXPECT_EQ(files_.lines(), lines);
    EXPECT_TRUE(none_late(files_));
  }

  const PipelineFiles files_{};
  const std::filesystem::path until_ = files_.path() / "end";
  std::optional<TestRun> run_{};
  int runs_ = 0;
};

TEST_F(FollowedSplitsTest, FilesThatAreThereHaveNoLateEvents) {
  for (const char* const name : {"a", "b", "c"}) append(name, times(0, 100'000));
  start(std::chrono::seconds(10));
  end_with(windows(0, 100'000, 30));
}

TEST_F(FollowedSplitsTest, WhatCameWhileTheRunWasStoppedIsNotLate) {
  for (const char* const name : {"a", "b"}) append(name, times(0, 35));
  start(std::chrono::seconds(10));
  wait_for(windows(0, 30, 20));
  const std::string before = stop();
  for (const char* const name : {"a", "b"}) append(name, times(35, 50'000));
  start(std::chrono::seconds(10), before);
  end_with(windows(0, 50'000, 20));
}

// The lines of one file come while the other one is silent.
TEST_F(FollowedSplitsTest, ASilentFileHoldsTheWatermarkBack) {
  append("a", times(0, 100));
  append("b", times(0, 5));
  start(kForever);
  wait_for_lines(105);
  append("b", times(5, 100));
  wait_for(windows(0, 90, 20));
  end_with(windows(0, 100, 20));
}

TEST_F(FollowedSplitsTest, AnIdleFileHoldsNoWatermarkBackAndNeitherDoesOneThatIsGone) {
  append("a", times(0, 25));
  append("b", times(0, 5));
  append("empty", "");
  start(milliseconds(1));
  wait_for({"0 15", "10 10"});
  append("a", times(25, 45));
  wait_for({"0 15", "10 10", "20 10", "30 10"});
  end_with({"0 15", "10 10", "20 10", "30 10", "40 5"});
}

TEST_F(FollowedSplitsTest, AFileThatIsGoneHoldsNoWatermarkBack) {
  append("a", times(0, 25));
  append("b", times(0, 5));
  start(kForever);
  wait_for_lines(30);
  std::filesystem::remove(files_.input() / "b");
  append("a", "25\n");
  wait_for({"0 15", "10 10"});
  end_with({"0 15", "10 10", "20 6"});
}

// After the stop, one event of a file does not show its time by itself.
TEST_F(FollowedSplitsTest, TheWatermarksOfFilesAreInTheCheckpoint) {
  for (const char* const name : {"a", "b"}) append(name, times(0, 25));
  start(kForever);
  wait_for(windows(0, 20, 20));
  const std::string before = stop();
  start(kForever, before);
  append("a", "36\n");
  append("b", "37\n");
  wait_for({"0 20", "10 20", "20 10"});
  end_with({"0 20", "10 20", "20 10", "30 2"});
}

}  // namespace
}  // namespace lp
