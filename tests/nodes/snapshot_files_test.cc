// Snapshot files: their names, which of them are kept, and options that are refused. See checkpointer_test.cc, too.
#include "nodes/snapshot_files.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>

#include "lp/base/error.h"
#include "lp/lp.h"
#include "tests/directory.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

TEST(SnapshotFiles, KeepsTheNewestOnes) {
  const test::Directory directory;
  SnapshotFiles files({.directory = directory.path() / "new", .keep = 2}, "policy", "tester");
  EXPECT_EQ(files.newest(0), std::nullopt);
  Checkpoint one;
  one.put("number", 7);
  for (std::uint64_t step = 1; step <= 3; ++step) {
    const auto file = files.write(one, step);
    EXPECT_EQ(file, directory.path() / "new" / ("policy-" + std::to_string(step) + ".lpc"));
    EXPECT_EQ(files.newest(step), file);
    EXPECT_EQ(files.newest(step + 1), std::nullopt);
    EXPECT_EQ(Checkpoint::read(file).step(), step);
  }
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "new" / "policy-1.lpc"));
  EXPECT_TRUE(std::filesystem::exists(directory.path() / "new" / "policy-2.lpc"));
}

TEST(SnapshotFiles, CountsWhatWasWrittenBeforeByTime) {
  const test::Directory directory;
  const auto files = [&] {
    std::set<std::string> names;
    for (const auto& one : std::filesystem::directory_iterator(directory.path())) names.insert(one.path().filename());
    return names;
  };
  Checkpoint one;
  one.put("number", 7);
  const auto time = std::filesystem::file_time_type::clock::now();
  for (const std::uint64_t step : {300U, 100U, 200U}) {  // another training wrote the first
    one.write(directory.path() / ("policy-" + std::to_string(step) + ".lpc"), "tester", step);
  }
  for (const auto& [step, age] : {std::pair(300, 3), std::pair(100, 2), std::pair(200, 1)}) {
    std::filesystem::last_write_time(directory.path() / ("policy-" + std::to_string(step) + ".lpc"),
                                     time - std::chrono::hours(age));
  }
  one.write(directory.path() / "policy-best.lpc", "tester", 1);
  one.write(directory.path() / "policy-7.lpc", "somebody", 7);
  std::ofstream(directory.path() / "policy-8.lpc") << "no checkpoint";
  const std::set<std::string> others{"policy-7.lpc", "policy-8.lpc", "policy-best.lpc"};
  SnapshotFiles restarted({.directory = directory.path(), .keep = 2}, "policy", "tester");
  EXPECT_EQ(restarted.newest(200), std::nullopt);  // the training may have gone back and made other parameters
  restarted.write(one, 150);
  std::set<std::string> expected = others;
  expected.insert({"policy-150.lpc", "policy-200.lpc"});
  EXPECT_EQ(files(), expected);
}

TEST(SnapshotFiles, ThoseOfTwoNodesAtOnceCountTogether) {
  const test::Directory directory;
  SnapshotFiles first({.directory = directory.path(), .keep = 3}, "policy", "tester");
  SnapshotFiles second({.directory = directory.path(), .keep = 3}, "policy", "tester");
  Checkpoint one;
  one.put("number", 7);
  for (std::uint64_t step = 1; step <= 7; ++step) (step % 2 == 1 ? first : second).write(one, step);
  std::set<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(directory.path())) names.insert(file.path().filename());
  EXPECT_EQ(names, (std::set<std::string>{"policy-5.lpc", "policy-6.lpc", "policy-7.lpc"}));
}

TEST(SnapshotFiles, MayVanishMeanwhile) {
  const test::Directory directory;
  SnapshotFiles files({.directory = directory.path(), .keep = 2}, "policy", "tester");
  Checkpoint one;
  one.put("number", 7);
  files.write(one, 1);
  const auto second = files.write(one, 2);
  std::filesystem::remove(second);
  EXPECT_EQ(files.newest(2), std::nullopt);  // so that it is written again
  const auto third = files.write(one, 3);
  EXPECT_EQ(files.newest(3), third);
  EXPECT_TRUE(std::filesystem::exists(directory.path() / "policy-1.lpc"));
}

TEST(SnapshotFiles, OfFailuresInARowTheFirstIsReported) {
  Program program("saves");
  program.function({.name = "saver"}, [](Context& context) {
    int tries = 0;
    save_snapshots(context, std::chrono::microseconds(1), [&] {
      if (++tries == 7) throw Error(ErrorKind::stopped, "all is tried");
      if (tries == 3) throw Error(ErrorKind::disconnected, "the server is being restored");
      if (tries != 4) throw Error(ErrorKind::failed, "no space is left at try " + std::to_string(tries));
    });
  });
  testing::internal::CaptureStderr();
  {
    LocalRun run(program);
    run.wait_finished();
  }
  const std::string end = "; further failures are not reported until one is written\n";
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "lp: no snapshot was written: no space is left at try 1" + end +
                                                        "lp: a snapshot is written again\n" +
                                                        "lp: no snapshot was written: no space is left at try 5" + end);
}

TEST(SnapshotFiles, OptionsThatDoNotFitAreRefused) {
  const test::Directory directory;
  EXPECT_THROW(SnapshotFiles({.directory = ""}, "policy", "tester"), Error);
  EXPECT_THROW(SnapshotFiles({.directory = directory.path(), .period = {}}, "policy", "tester"), Error);
  EXPECT_THROW(SnapshotFiles({.directory = directory.path(), .keep = 0}, "policy", "tester"), Error);
}

}  // namespace
}  // namespace lp
