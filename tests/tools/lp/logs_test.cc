// Logs as lp reads them: while they grow, turn over, and are cut.

#include <fstream>
#include <sstream>
#include <vector>

#include "launchers/record/node_log.h"
#include "tests/tools/lp/lp_fixture.h"
#include "tools/lp/log_reader.h"
#include "tools/lp/runs.h"

namespace lp::test {
namespace {

class LogReaderTest : public testing::Test {
 protected:
  void write(const std::string& text) {
    std::string error;
    EXPECT_TRUE(log_.write(text, error)) << error;
  }
  std::string read(bool finish = false) {
    std::string lines;
    const auto take = [&](const tool::LogLine& line) { lines.append(line.text).append("\n"); };
    finish ? reader_.finish(take) : reader_.read(take);
    return lines;
  }

  const Directory directory_;
  launch::NodeLog log_{directory_.path() / "worker/1.log", 3 * 4096};
  tool::LogReader reader_{directory_.path() / "worker/1.log"};
};

TEST_F(LogReaderTest, LinesAreGivenOnceTheyAreWhole) {
  EXPECT_EQ(read(), "");
  write("one\ntw");
  EXPECT_EQ(read(), "one\n");
  write("o\nthree");
  EXPECT_EQ(read(), "two\n");
  EXPECT_EQ(read(true), "three\n");
}

TEST_F(LogReaderTest, PartsFollowEachOtherWithoutASeam) {
  std::string all;
  for (int i = 0; i < 1000; ++i) {  // 11 bytes each: into the third part
    const std::string line = "line " + std::to_string(10'000 + i) + "\n";
    all += line;
    write(line);
  }
  EXPECT_EQ(read(true), all);
}

TEST_F(LogReaderTest, AReaderThatKeepsUpSeesEverythingWhileItTurnsOver) {
  std::string all;
  std::string seen;
  for (int i = 0; i < 5000; ++i) {
    const std::string line = "line " + std::to_string(10'000 + i) + "\n";
    all += line;
    write(line);
    if (i % 100 == 0) seen += read();
  }
  seen += read(true);
  std::erase_if(seen, [](char c) { return c == '\r'; });
  std::istringstream lines(seen);
  std::string without_notes;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("[lp: ")) without_notes += line + "\n";
  }
  EXPECT_EQ(without_notes.size(), all.size());
}

TEST_F(LogReaderTest, ANodeThatPrintsFasterThanItsLinesAreTakenDoesNotHoldTheReader) {
  write("line 0\n");
  int taken = 0;
  const auto take = [&](const tool::LogLine&) {
    if (++taken < 10'000) write("two more\nlines\n");
  };
  reader_.read(take);
  EXPECT_EQ(taken, 1);
  for (int i = 0; i < 10; ++i) reader_.read(take);  // while it turns over
  EXPECT_LT(taken, 5'000);
}

TEST_F(LogReaderTest, WhatWasDroppedIsSaid) {
  for (int i = 0; i < 5000; ++i) write("line " + std::to_string(10'000 + i) + "\n");
  const std::string text = read(true);
  EXPECT_TRUE(text.starts_with("line 10000\n"));
  EXPECT_NE(text.find("bytes before this line were dropped"), std::string::npos);
  EXPECT_TRUE(text.ends_with("line 14999\n"));
}

TEST_F(LogReaderTest, LinesHaveTheTimeAtWhichTheyWereWritten) {
  write("one\n");
  {  // as if that was an hour ago
    std::ifstream file(directory_.path() / "worker/1.times");
    double time = 0;
    ASSERT_TRUE(file >> time);
    std::ofstream(directory_.path() / "worker/1.times") << std::fixed << time - 3600 << " 0\n" << time << " 4\n";
  }
  write("two\n");
  std::vector<double> ages;
  reader_.finish([&](const tool::LogLine& line) {
    EXPECT_LE(line.earliest, line.latest);
    ages.push_back(static_cast<double>(wall_clock()) / 1e9 - line.earliest);
  });
  ASSERT_EQ(ages.size(), 2U);
  EXPECT_GT(ages[0], 3000);
  EXPECT_LT(ages[1], 600);
}

TEST_F(LogReaderTest, TheTimesOfALogAreBounded) {
  launch::LogTimes times;
  const std::filesystem::path part = directory_.path() / "a.log";
  for (int i = 0; i < 1000; ++i) times.note(part, static_cast<std::uint64_t>(i), 4096);
  EXPECT_LT(std::filesystem::file_size(directory_.path() / "a.times"), 4096U / 4);
}

TEST_F(LpTest, OldLinesAreLeftOut) {
  Subprocess program({"program", "--launch=processes", "--mode=throws"});
  program.wait();
  EXPECT_TRUE(has(lp("logs last worker/1 --since=10m").output, "no data here"));
  const std::filesystem::path log = tool::find_run("last").directory / "logs/worker/1.log";
  std::ofstream(log.parent_path() / "1.times") << "1000.0 0\n";
  std::filesystem::last_write_time(log, std::filesystem::last_write_time(log) - std::chrono::hours(1));
  EXPECT_EQ(lp("logs last worker/1 --since=10m").output, "");
  EXPECT_TRUE(has(lp("logs last worker/1 --since=2h").output, "no data here"));
}

TEST_F(LpTest, LogsOfNodesAreShownSearchedAndCut) {
  Subprocess program({"program", "--launch=processes", "--mode=throws"});
  program.wait();
  const Ended one = lp("logs last worker/1");
  EXPECT_EQ(one.code, 0) << one.output;
  EXPECT_TRUE(has(one.output, "no data here")) << one.output;
  EXPECT_TRUE(has(lp("logs last").output, "worker/1 | ")) << lp("logs last").output;
  EXPECT_EQ(lp("logs last worker --grep='no (data|model)' -n1").output,
            lp("logs last worker --grep='NO D.TA' -i -n 1").output);
  EXPECT_EQ(lp("logs last worker/1 --grep=nothing").output, "");
  EXPECT_EQ(lp("logs last worker/1 --grep='('").code, 2);
  const Ended unknown = lp("logs last wroker");
  EXPECT_EQ(unknown.code, 3);
  EXPECT_TRUE(has(unknown.output, "did you mean worker?")) << unknown.output;
  EXPECT_TRUE(has(lp("logs last worker/1 --json").output, R"({"node":"worker/1","line":)"));
}

TEST_F(LpTest, LogsFollowALiveRunToItsEnd) {
  Subprocess program(waiting());
  ASSERT_TRUE(program.read_until("waiting")) << program.err();
  OnTerminal logs = on_terminal({"logs", "last", "-f"});
  ASSERT_TRUE(logs.read_until("waiting")) << logs.shown();
  EXPECT_EQ(lp("restart last worker/1").code, 0);
  const std::size_t shown = logs.shown().size();
  ASSERT_TRUE(logs.read_until("waiting", shown)) << logs.shown();
  OnTerminal stop = on_terminal({"stop", "last"});
  EXPECT_EQ(stop.wait(), 0) << stop.shown();
  EXPECT_TRUE(has(stop.shown(), ": it was stopped by ")) << stop.shown();
  EXPECT_EQ(logs.wait(), 0) << logs.shown();
  EXPECT_EQ(program.wait().code, RunResult::kStopped);
}

TEST_F(LpTest, ThreadsHaveNoLogs) {
  EXPECT_EQ(lp("run '" + std::filesystem::read_symlink("/proc/self/exe").string() + "' program").code, 0);
  const Ended logs = lp("logs last");
  EXPECT_EQ(logs.code, 1);
  EXPECT_TRUE(has(logs.output, "its nodes are threads")) << logs.output;
}

}  // namespace
}  // namespace lp::test
