#include "lp/program/scratch.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>

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
  make_scratch(run, "name", files.path() / "user", ScratchLife::run);
  const fs::path other = files.path() / "other";
  fs::create_directories(other);
  fs::create_directory_symlink(other, run / "scratch" / "of_run" / "1");
  remove_scratch(run, ScratchLife::run);
  EXPECT_TRUE(fs::exists(other));
}

}  // namespace
}  // namespace lp
