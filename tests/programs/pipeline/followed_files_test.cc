// Files that are followed to an end that is there from the beginning.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "lp/base/file.h"
#include "tests/error_of.h"
#include "tests/no_rights.h"
#include "tests/programs/pipeline/pipeline_run.h"

namespace lp {
namespace {

using test::PipelineFiles;
using Lines = std::multiset<std::string>;

std::string follow_to_end(const PipelineFiles& files, const std::string& into, std::uint64_t longest_line = 1 << 20,
                          std::uint64_t skip_records = 0) {
  const std::filesystem::path until = files.path() / "end";
  write_file(until, "");
  std::filesystem::create_directories(files.path() / into);
  Pipeline pipeline;
  test::write_lines(pipeline.follow({.paths = {files.input().string()}, .until = until, .longest_line = longest_line}),
                    files.path() / into);
  return test::run_pipeline(pipeline, {.skip_records = skip_records, .restarts = 0});
}

std::string read_to_end(const PipelineFiles& files, const std::string& into, std::uint64_t longest_record = 1 << 20,
                        std::uint64_t skip_records = 0) {
  std::filesystem::create_directories(files.path() / into);
  Pipeline pipeline;
  test::write_lines(pipeline.read({.paths = {files.input().string()}, .longest_record = longest_record}),
                    files.path() / into);
  return test::run_pipeline(pipeline, {.skip_records = skip_records, .restarts = 0});
}

TEST(FollowedFilesTest, AnInputThatCannotBeReadIsNamedAndNoOtherIsLeftOut) {
  const PipelineFiles files;
  files.write("a", "one\n");
  std::filesystem::create_symlink("loop", files.input() / "loop");
  files.write("z", "two\n");
  const std::string why =
      "an input cannot be read: " + (files.input() / "loop").string() + ": Too many levels of symbolic links";
  EXPECT_NE(follow_to_end(files, "followed").find(why), std::string::npos);
  EXPECT_NE(read_to_end(files, "read").find(why), std::string::npos);
  std::filesystem::remove(files.input() / "loop");
  EXPECT_EQ(follow_to_end(files, "again"), "");
  EXPECT_EQ(files.lines("again"), (Lines{"one", "two"}));
}

TEST(FollowedFilesTest, AFileThatMayNotBeOpenedIsNamedAtTheEndAndTheOthersAreRead) {
  const PipelineFiles files;
  const std::string closed = files.write("closed", "two\n");
  files.write("open", "one\n");
  for (const auto& folder : {files.path(), files.input()}) test::give_to_all(folder);
  std::filesystem::permissions(closed, std::filesystem::perms::none);
  const std::filesystem::path until = files.path() / "end";
  bool read = false;
  Pipeline pipeline;
  test::write_lines(pipeline.follow({.paths = {files.input().string()}, .until = until}).filter([&](auto) {
    read = true;
    write_file(until, "");
    return true;
  }),
                    files.output());
  std::string failure;
  {
    const test::NoRights others;
    // A restart, which would fail likewise, costs an hour.
    failure = test::run_pipeline(pipeline, {.replicas = 1, .restarts = 3, .restart_after = std::chrono::hours(1)});
  }
  EXPECT_TRUE(read);
  EXPECT_NE(failure.find(closed + " cannot be read: Permission denied"), std::string::npos) << failure;
}

// The log is closed when a line of it was read, and has grown by the time when it is opened again. It is found closed
// at each look, of which there is one before each of the other files.
TEST(FollowedFilesTest, AFileThatMayBeOpenedAgainIsReadOnWhereItWas) {
  namespace fs = std::filesystem;
  const PipelineFiles files;
  const fs::path log = files.write("log", "first\n"), until = files.path() / "end";
  for (const auto& folder : {files.path(), files.input()}) test::give_to_all(folder);
  ASSERT_TRUE(::geteuid() != 0 || ::chown(log.c_str(), test::kNobody, static_cast<gid_t>(-1)) == 0);
  Pipeline pipeline;
  const auto next = [&](std::string_view line) {
    if (line == "first") {
      std::ofstream(log, std::ios::app) << "second\n";
      fs::permissions(log, fs::perms::none);
      files.write("a", "one\n");
    } else if (line == "one") {
      files.write("b", "two\n");
    } else if (line == "two") {
      files.write("c", "three\n");
    } else if (line == "three") {
      fs::permissions(log, fs::perms::owner_all);
      write_file(until, "");
    }
    return true;
  };
  test::write_lines(pipeline.follow({.paths = {files.input().string()}, .until = until}).filter(next), files.output());
  testing::internal::CaptureStderr();
  std::string failure;
  {
    const test::NoRights others;
    failure = test::run_pipeline(pipeline, {.replicas = 1, .restarts = 0});
  }
  const std::string logged = testing::internal::GetCapturedStderr();
  EXPECT_EQ(failure, "");
  EXPECT_EQ(files.lines(), (Lines{"first", "one", "second", "three", "two"}));
  const std::string why = log.string() + " cannot be read: Permission denied";
  const std::size_t at = logged.find(why);
  EXPECT_NE(at, std::string::npos) << logged;
  EXPECT_EQ(logged.find(why, at + 1), std::string::npos) << logged;
}

// A block ends at each byte of the line that is behind the long one.
TEST(FollowedFilesTest, ALineBehindOneThatIsTooLongIsWhole) {
  constexpr std::size_t kLongest = 1000;
  for (std::size_t more = 0; more < 100; ++more) {
    const PipelineFiles files;
    const std::string good(30, 'g');
    files.write("log", std::string(2 * kLongest + more, 'x') + "\n" + good + "\nlast");
    EXPECT_EQ(follow_to_end(files, "output", kLongest, 1), "");
    EXPECT_EQ(files.lines(), (Lines{good, "last"})) << more;
  }
}

TEST(FollowedFilesTest, TheLongestLineIsTheSameAsOfFilesThatDoNotGrow) {
  constexpr std::size_t kLongest = 10;
  const PipelineFiles files;
  const std::string fits(kLongest, 'f');
  const std::string longer(kLongest + 1, 'l');
  files.write("a", longer + "\n" + fits + "\n" + longer + "\n" + fits);
  files.write("b", fits + "\n" + longer);
  EXPECT_EQ(follow_to_end(files, "followed", kLongest, 3), "");
  EXPECT_EQ(read_to_end(files, "read", kLongest, 3), "");
  EXPECT_EQ(files.lines("followed"), (Lines{fits, fits, fits}));
  EXPECT_EQ(files.lines("read"), (Lines{fits, fits, fits}));
  for (const auto& run : {follow_to_end, read_to_end}) {
    EXPECT_NE(run(files, "refused", kLongest, 2).find("it is longer than 10 bytes"), std::string::npos);
  }
}

TEST(FollowedFilesTest, AFileWithSeveralNamesIsReadOnceAlsoWhenItDoesNotGrow) {
  const PipelineFiles files;
  files.write("app", "one\n");
  std::filesystem::create_symlink("app", files.input() / "current");
  std::filesystem::create_hard_link(files.input() / "app", files.input() / "link");
  EXPECT_EQ(follow_to_end(files, "followed"), "");
  EXPECT_EQ(read_to_end(files, "read"), "");
  EXPECT_EQ(files.lines("followed"), Lines{"one"});
  EXPECT_EQ(files.lines("read"), Lines{"one"});
}

TEST(FollowedFilesTest, AnInputThatIsNotThereYetIsLogged) {
  const PipelineFiles files;
  testing::internal::CaptureStderr();
  EXPECT_EQ(follow_to_end(files, "output"), "");
  const std::string logged = testing::internal::GetCapturedStderr();
  const std::string line = "no input matches " + files.input().string() + " yet";
  const std::size_t at = logged.find(line);
  EXPECT_NE(at, std::string::npos) << logged;
  EXPECT_EQ(logged.find(line, at + 1), std::string::npos) << logged;
}

// A source that follows them would read them for ever.
TEST(FollowedFilesTest, ResultsAreNoInput) {
  const PipelineFiles files;
  files.write("log", "one\n");
  for (const char* const into : {"input", "input/results", "input/below/results", "input/../input/results"}) {
    for (const auto& run : {follow_to_end, read_to_end}) {
      const std::string failure = test::error_of([&] { run(files, into, 1 << 20, 0); });
      EXPECT_NE(failure.find("would be input of the pipeline"), std::string::npos) << into;
    }
  }
  for (const char* const into : {"input/_results", "input/.hidden/results", "input2"}) {
    EXPECT_EQ(follow_to_end(files, into), "");
    EXPECT_EQ(files.lines(into), Lines{"one"});
  }
}

// A restart costs an hour.
TEST(FollowedFilesTest, ABadRecordEndsThePipelineWithoutRestarts) {
  const PipelineFiles files;
  files.write("log", "good\nbad\n");
  const std::filesystem::path until = files.path() / "end";
  write_file(until, "");
  const PipelineOptions options{.restarts = 3, .restart_after = std::chrono::hours(1)};
  Pipeline failing, short_lines, short_followed;
  test::write_lines(failing.read({.paths = {files.input().string()}}).filter([](std::string_view line) {
    if (line == "bad") throw std::invalid_argument("it is bad");
    return true;
  }),
                    files.path() / "failing");
  test::write_lines(short_lines.read({.paths = {files.input().string()}, .longest_record = 3}), files.path() / "read");
  test::write_lines(short_followed.follow({.paths = {files.input().string()}, .until = until, .longest_line = 3}),
                    files.path() / "followed");
  EXPECT_NE(test::run_pipeline(failing, options).find("it is bad"), std::string::npos);
  EXPECT_NE(test::run_pipeline(short_lines, options).find("it is longer than 3 bytes"), std::string::npos);
  EXPECT_NE(test::run_pipeline(short_followed, options).find("it is longer than 3 bytes"), std::string::npos);
}

}  // namespace
}  // namespace lp
