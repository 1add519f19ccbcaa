#include "lp/program/scratch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <vector>

#include "lp/base/descriptor.h"
#include "lp/base/file.h"
#include "tests/directory.h"

namespace lp {
namespace {

namespace fs = std::filesystem;

TEST(ScratchTest, GoesAtTheEndOfItsLife) {
  const test::Directory files;
  const fs::path run = files.path() / "run";
  const fs::path user = files.path() / "user";
  fs::create_directories(run);
  fs::create_directories(user);
  std::ofstream(user / "own") << "of the user";
  const fs::path of_run = make_scratch(run, "name", user, ScratchLife::run);
  const fs::path of_cuts = make_scratch(run, "name", user, ScratchLife::cuts);
  for (const fs::path& one : {of_run, of_cuts}) std::ofstream(one / "file") << "large";
  EXPECT_EQ(make_scratch(run, "name", user, ScratchLife::run), of_run);
  EXPECT_TRUE(has_scratch(run));
  remove_scratch(run, ScratchLife::run);
  EXPECT_FALSE(fs::exists(of_run));
  EXPECT_TRUE(fs::exists(of_cuts / "file"));
  EXPECT_TRUE(has_scratch(run));
  remove_scratch(run, ScratchLife::cuts);
  EXPECT_FALSE(fs::exists(of_cuts));
  EXPECT_FALSE(has_scratch(run));
  EXPECT_TRUE(fs::exists(user / "own"));
}

TEST(ScratchTest, ALinkToSomethingElseRemovesNothing) {
  const test::Directory files;
  const fs::path run = files.path() / "run";
  fs::create_directory(run);
  make_scratch(run, "name", files.path() / "user", ScratchLife::run);
  const fs::path other = files.path() / "other";
  fs::create_directories(other);
  fs::create_directory_symlink(other, run / "scratch" / "of_run" / "1");
  remove_scratch(run, ScratchLife::run);
  EXPECT_TRUE(fs::exists(other));
}

TEST(ScratchTest, ARunWhoseDirectoryWasRemovedGetsNoNewOne) {
  const test::Directory files;
  const fs::path run = files.path() / "run";
  EXPECT_TRUE(fs::exists(make_scratch(run, "name", files.path() / "user", ScratchLife::run)));
  EXPECT_FALSE(fs::exists(run));
}

// The directory of prepared results `prepared`, which the run "name" has taken.
fs::path take_over(const fs::path& prepared, const fs::path& run, const std::string& name) {
  if (!run.empty()) fs::create_directory(run);
  const fs::path made = make_scratch(run, name, prepared, ScratchLife::cuts);
  write_file(prepared / kRunMark, name);
  std::ofstream(prepared / "part") << "half";
  return made;
}

TEST(ScratchTest, TheDirectoryAroundItGoesWithItIfItIsOfTheSameRun) {
  const test::Directory files;
  const fs::path run = files.path() / "run";
  const fs::path prepared = files.path() / "prepared";
  take_over(prepared, run, "name");
  EXPECT_EQ(kept_scratch(run, ScratchLife::cuts), std::vector<fs::path>{prepared});
  remove_scratch(run, ScratchLife::run);
  EXPECT_TRUE(fs::exists(prepared / "part"));
  remove_scratch(run, ScratchLife::cuts);
  EXPECT_FALSE(fs::exists(prepared));
  EXPECT_TRUE(kept_scratch(run, ScratchLife::cuts).empty());

  const fs::path without_run = take_over(prepared, {}, "name");
  remove_scratch_directory(without_run);
  EXPECT_FALSE(fs::exists(prepared));
}

TEST(ScratchTest, ADirectoryThatAnotherRunHasTakenOverStays) {
  const test::Directory files;
  const fs::path prepared = files.path() / "prepared";
  const fs::path first = files.path() / "first";
  const fs::path second = files.path() / "second";
  const fs::path made = take_over(prepared, first, "first");
  take_over(prepared, second, "second");
  EXPECT_EQ(kept_scratch(first, ScratchLife::cuts), std::vector<fs::path>{made});
  remove_scratch(first, ScratchLife::cuts);
  EXPECT_FALSE(fs::exists(made));
  EXPECT_TRUE(fs::exists(prepared / "part"));
  {
    const Descriptor held(::open((prepared / kRunMark).c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_EQ(::flock(held.number(), LOCK_SH), 0);  // as a node of a run that lives
    remove_scratch(second, ScratchLife::cuts);
    EXPECT_TRUE(fs::exists(prepared / "part"));
  }
}

}  // namespace
}  // namespace lp
