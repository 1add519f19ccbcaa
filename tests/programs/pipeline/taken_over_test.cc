// A pipeline goes on from the last checkpoint of another run only when that has stopped, and fits.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "launchers/test_run.h"
#include "lp/base/file.h"
#include "tests/error_of.h"
#include "tests/programs/pipeline/pipeline_run.h"

namespace lp {
namespace {

using test::PipelineFiles;

class TakenOverTest : public testing::Test {
 protected:
  Pipeline followed(const std::string& stage) const {
    Pipeline pipeline;
    test::write_lines(pipeline.follow({.paths = {files_.input().string()}, .until = until_}, {.name = stage}),
                      files_.output());
    return pipeline;
  }
  std::string go_on(const Pipeline& pipeline) const {
    return test::run_pipeline(pipeline, {.from = first_, .restarts = 0}, {.directory = files_.path() / "second"});
  }

  const PipelineFiles files_{};
  const std::filesystem::path until_ = files_.path() / "end";
  const std::filesystem::path first_ = files_.path() / "first";
};

TEST_F(TakenOverTest, ARunAtItsEndIsRefused) {
  files_.write("log", "one\n");
  write_file(until_, "");
  EXPECT_EQ(test::run_pipeline(followed("lines"), {}, {.directory = first_}), "");
  EXPECT_NE(go_on(followed("lines")).find("has come to the end of its input"), std::string::npos);
}

TEST_F(TakenOverTest, ARunThatLivesAndOneOfAnotherPipelineAreRefused) {
  files_.write("log", "one\n");
  std::filesystem::create_directories(files_.output());
  Program program("test");
  add_pipeline(program, followed("lines"), {.checkpoint_every = std::chrono::milliseconds(5)});
  {
    TestRun run(std::move(program), {.directory = first_});
    for (const Time end = after(std::chrono::seconds(60)); !passed(end) && files_.lines().empty();)
      run.wait_for(std::chrono::milliseconds(1));
    EXPECT_NE(test::error_of([&] { go_on(followed("lines")); }).find("has not ended"), std::string::npos);
    run.stop("enough");
  }
  std::filesystem::remove_all(files_.path() / "second");
  EXPECT_NE(go_on(followed("other")).find("is a run of another pipeline, without the stage other"), std::string::npos);
}

TEST_F(TakenOverTest, TheRunIsKeptUntilTheNewOneHasACheckpoint) {
  files_.write("log", "one\n");
  std::filesystem::create_directories(files_.output());
  const auto start = [&](PipelineOptions options, const std::filesystem::path& directory) {
    Program program("test");
    add_pipeline(program, followed("lines"), options);
    return std::make_unique<TestRun>(std::move(program), LaunchOptions{.directory = directory});
  };
  auto run = start({.checkpoint_every = std::chrono::milliseconds(5)}, first_);
  for (const Time end = after(std::chrono::seconds(60)); !passed(end) && files_.lines().empty();)
    run->wait_for(std::chrono::milliseconds(1));
  run->stop("enough");
  run.reset();
  // As `lp rm` finds out whether it may remove the run.
  const auto is_free = [&] {
    const Descriptor lock(::open((first_ / "lock").c_str(), O_RDWR | O_CLOEXEC));
    return ::flock(lock.number(), LOCK_EX | LOCK_NB) == 0;
  };
  EXPECT_TRUE(is_free());
  run = start({.checkpoint_every = kForever, .from = first_}, files_.path() / "second");
  EXPECT_FALSE(is_free());
  run->stop("enough");
  run = start({.checkpoint_every = std::chrono::milliseconds(5), .from = first_}, files_.path() / "third");
  for (const Time end = after(std::chrono::seconds(60)); !passed(end) && !is_free();)
    run->wait_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(is_free());
  run->stop("enough");
}

}  // namespace
}  // namespace lp
