#include "launchers/record/node_output.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/directory.h"

namespace lp::launch {
namespace {

class OutputTest : public testing::Test {
 protected:
  std::string contents(const std::string& name) const {
    std::ifstream file(directory_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const test::Directory temporary_;
  const std::filesystem::path directory_ = temporary_.path();
};

std::vector<std::string> lines_of(const std::vector<std::string>& pieces) {
  std::vector<std::string> lines;
  LineCutter cutter;
  const auto take = [&](std::string_view line) { lines.emplace_back(line); };
  for (const std::string& piece : pieces) cutter.feed(piece, take);
  cutter.finish(take);
  return lines;
}

TEST_F(OutputTest, LinesAreCutWhereverThePiecesEnd) {
  EXPECT_EQ(lines_of({"a", "b\nc", "\n", "\nd"}), (std::vector<std::string>{"ab", "c", "", "d"}));
}

TEST_F(OutputTest, AVeryLongLineComesInParts) {
  const std::string line(LineCutter::kLongest * 2 + 10, 'x');
  const auto lines = lines_of({line + "\n"});
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0] + lines[1] + lines[2], line);
}

TEST_F(OutputTest, ATerminalGetsNoBytesThatItWouldObey) {
  EXPECT_EQ(printable("plain \t ünïcode ✓"), "plain \t ünïcode ✓");
  EXPECT_EQ(printable("\033[1;31mred\033[0m"), "\033[1;31mred\033[0m");
  EXPECT_EQ(printable("\033]0;title\a"), "\\x1b]0;title\\x07");
  EXPECT_EQ(printable("\xff\xc3(\x7f"), "\\xff\\xc3(\\x7f");
  EXPECT_EQ(printable("a\u009b31mb"), "a\\xc2\\x9b31mb");  // some terminals take it for escape [
  EXPECT_EQ(printable("a\u202eb\u2066c\u00a0\u2027"), "a\\xe2\\x80\\xaeb\\xe2\\x81\\xa6c\u00a0\u2027");
}

TEST_F(OutputTest, ALogKeepsItsBeginningAndItsNewestPart) {
  std::string error;
  {
    NodeLog log(directory_ / "worker/1.log", 3 * 4096);
    for (int i = 0; i < 4000; ++i) ASSERT_TRUE(log.write("line " + std::to_string(i) + "\n", error)) << error;
  }
  EXPECT_TRUE(contents("worker/1.first.log").starts_with("line 0\n"));
  EXPECT_TRUE(contents("worker/1.log").starts_with("[lp: "));
  EXPECT_TRUE(contents("worker/1.log").ends_with("line 3999\n"));
  EXPECT_NE(contents("worker/1.log").find("bytes before this line were dropped"), std::string::npos);
  std::uintmax_t total = 0;
  for (const char* part : {"worker/1.first.log", "worker/1.previous.log", "worker/1.log"}) {
    total += std::filesystem::file_size(directory_ / part);
  }
  EXPECT_LE(total, 3u * 4096u + 100u);
}

TEST_F(OutputTest, ALogGoesOnWhereAnEarlierStartHasLeftIt) {
  std::string error;
  for (const std::string start : {"first", "second"}) {
    NodeLog log(directory_ / "worker.log", 3 * 4096);
    for (int i = 0; i < 300; ++i) ASSERT_TRUE(log.write(start + " " + std::to_string(i) + "\n", error)) << error;
  }
  EXPECT_TRUE(contents("worker.first.log").starts_with("first 0\n"));
  EXPECT_NE(contents("worker.first.log").find("first 299\nsecond 0\n"), std::string::npos);
  EXPECT_LE(std::filesystem::file_size(directory_ / "worker.first.log"), 4096u);
  EXPECT_TRUE(contents("worker.log").ends_with("second 299\n"));
}

TEST_F(OutputTest, AFullDiskIsSaidOnceAndNoError) {
  std::filesystem::create_symlink("/dev/full", directory_ / "worker.log");
  NodeLog log(directory_ / "worker.log", 1 << 20);
  std::string error;
  EXPECT_FALSE(log.write("a line\n", error));
  EXPECT_NE(error.find("No space left"), std::string::npos) << error;
  error.clear();
  EXPECT_FALSE(log.write("a line\n", error));
  EXPECT_EQ(error, "");
}

TEST_F(OutputTest, TheLastLinesOfStandardErrorAreKept) {
  NodeOutput output({"a", "b"}, {.lines = false}, nullptr);
  output.take(0, false, "not this\n");
  for (int i = 0; i < 1000; ++i) output.take(0, true, "line " + std::to_string(i) + "\n");
  output.take(0, true, "unfinished");
  output.finish(0);
  EXPECT_EQ(output.last_lines(0).back(), "unfinished");
  EXPECT_LT(output.last_lines(0).size(), 200u);
  EXPECT_TRUE(output.last_lines(1).empty());
  output.begin(0);
  EXPECT_TRUE(output.last_lines(0).empty()) << "those of another incarnation";
}

TEST_F(OutputTest, AStoppedTerminalHoldsNobodyAndLosesNothing) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  Event drained;
  std::string read_back;
  {
    Terminal terminal({.out = ends[1], .err = ends[1], .drained = [&] { drained.set(); }});
    std::size_t written = 0;
    while (!terminal.full()) {  // more than a pipe holds
      terminal.write(false, std::string(1000, 'x') + "\n");
      written += 1001;
    }
    EXPECT_FALSE(terminal.flush(after(std::chrono::milliseconds(1))));
    std::vector<char> bytes(1 << 16);
    while (read_back.size() < written) {
      const ssize_t got = read(ends[0], bytes.data(), bytes.size());
      ASSERT_GT(got, 0);
      read_back.append(bytes.data(), static_cast<std::size_t>(got));
    }
    EXPECT_TRUE(drained.wait(after(std::chrono::seconds(10))));
    EXPECT_FALSE(terminal.full());
    EXPECT_EQ(read_back.size(), written);
  }
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace lp::launch
