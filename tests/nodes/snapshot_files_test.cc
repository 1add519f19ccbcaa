// Snapshot files: their names, which of them are kept, and options that are refused. See checkpointer_test.cc, too.
#include "nodes/snapshot_files.h"

#include <gtest/gtest.h>

#include "lp/base/error.h"
#include "tests/directory.h"

namespace lp {
namespace {

TEST(SnapshotFiles, KeepsTheNewestOnes) {
  const test::Directory directory;
  SnapshotFiles files({.directory = directory.path() / "new", .keep = 2});
  EXPECT_EQ(files.newest(0), std::nullopt);
  Checkpoint one;
  one.put("number", 7);
  for (std::uint64_t step = 1; step <= 3; ++step) {
    const auto file = files.write(one, "policy", "tester", step);
    EXPECT_EQ(file, directory.path() / "new" / ("policy-" + std::to_string(step) + ".lpc"));
    EXPECT_EQ(files.newest(step), file);
    EXPECT_EQ(files.newest(step + 1), std::nullopt);
    EXPECT_EQ(Checkpoint::read(file).step(), step);
  }
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "new" / "policy-1.lpc"));
  EXPECT_TRUE(std::filesystem::exists(directory.path() / "new" / "policy-2.lpc"));
}

TEST(SnapshotFiles, OptionsThatDoNotFitAreRefused) {
  const test::Directory directory;
  EXPECT_THROW(SnapshotFiles({.directory = ""}), Error);
  EXPECT_THROW(SnapshotFiles({.directory = directory.path(), .period = {}}), Error);
  EXPECT_THROW(SnapshotFiles({.directory = directory.path(), .keep = 0}), Error);
}

}  // namespace
}  // namespace lp
