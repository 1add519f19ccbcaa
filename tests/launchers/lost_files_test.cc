// A run whose directory takes no more files: it goes on, reports each loss, also where it shows nothing else, and fails
// at its end.

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "launchers/run.h"
#include "lp/checkpoint/checkpoint.h"
#include "lp/lp.h"
#include "tests/directory.h"
#include "tests/launchers/tools_for_test.h"

namespace lp::test {
namespace {

// Saves its steps, and waits for each cut. `before` is called before each step.
class Recorded {
 public:
  explicit Recorded(std::function<void(std::uint64_t)> before) : before_(std::move(before)) {}
  void run(Context& context) {
    for (std::uint64_t step = 1; step <= 4; ++step) {
      before_(step);
      context.report({.step = step, .total = 4, .values = {{"loss", 1}}});
      context.exclusive([&] { done_ = step; });
      context.checkpoint(step);
      context.wait_for_cut(step);
    }
  }
  void save(Checkpoint& out) const { out.put("done", done_); }
  void load(const Checkpoint& in) { done_ = in.get<std::uint64_t>("done"); }
  using Remote = Methods<>;

 private:
  const std::function<void(std::uint64_t)> before_;
  std::uint64_t done_ = 0;
};

class LostFiles : public testing::Test {
 protected:
  // Runs it, with what it prints on standard error.
  RunResult run(const std::function<void(std::uint64_t)>& before, const std::function<void()>& report = {}) {
    Program program("recorded");
    program.add<Recorded>({.name = "node", .ends_program = true}, before);
    LaunchOptions options;
    options.directory = directory();
    if (report) options.report = [report](lp::Run&) { report(); };
    testing::internal::CaptureStderr();
    RunResult result = lp::Run(std::move(program), options).wait();
    errors_ = testing::internal::GetCapturedStderr();
    return result;
  }
  std::filesystem::path directory() const { return directory_.path() / "run"; }
  // Nothing can be written below this path from now on.
  void block(const std::string& path) const {
    std::filesystem::remove_all(directory() / path);
    std::ofstream(directory() / path) << "in the way";
  }
  std::size_t said(const std::string& text) const {
    std::size_t times = 0;
    for (std::size_t at = errors_.find(text); at != std::string::npos; at = errors_.find(text, at + 1)) ++times;
    return times;
  }

  const Directory directory_;
  std::string errors_;
};

TEST_F(LostFiles, WithoutItsResultItHasFailed) {
  const RunResult result =
      run([](std::uint64_t) {}, [this] { std::filesystem::create_directories(directory() / "result.json/x"); });
  EXPECT_EQ(result.exit_code(), 1);
  EXPECT_EQ(result.cause.text(), "directory: the run could not keep its result");
  EXPECT_EQ(said("lp: the result cannot be saved in the run directory: "), 1U) << errors_;
}

TEST_F(LostFiles, ARemovedDirectoryIsNotMadeAgainAndTheRunHasFailed) {
  const RunResult result = run([this](std::uint64_t step) {
    if (step == 2) std::filesystem::remove_all(directory());
  });
  EXPECT_EQ(result.exit_code(), 1);
  EXPECT_EQ(result.cause.text(),
            "directory: the run could not keep its records: " + directory().string() + " was removed while it ran");
  EXPECT_EQ(said("lp: the run has no records any more, because "), 1U) << errors_;
  EXPECT_FALSE(std::filesystem::exists(directory()));
}

TEST_F(LostFiles, ADirectoryThatReplacesTheRunsOwnGetsNothingOfIt) {
  const RunResult result = run(
      [this](std::uint64_t step) {
        if (step == 2) std::filesystem::rename(directory(), directory_.path() / "moved");
      },
      [this] { std::filesystem::create_directory(directory()); });
  EXPECT_EQ(result.exit_code(), 1);
  EXPECT_TRUE(std::filesystem::is_empty(directory()));
}

TEST_F(LostFiles, WithoutCurvesItHasFailedAndItsResultSaysSo) {
  const RunResult result = run([this](std::uint64_t step) {
    if (step == 1) block("curves");
  });
  EXPECT_EQ(result.exit_code(), 1);
  EXPECT_EQ(result.cause.text(), "directory: the run could not keep a part of its curves");
  EXPECT_EQ(said("lp: the curves of the run cannot be written: "), 1U) << errors_;
  const std::string kept = contents(directory() / "result.json");
  EXPECT_NE(kept.find("\"exit_code\":1"), std::string::npos) << kept;
  EXPECT_NE(kept.find("a part of its curves"), std::string::npos) << kept;
}

TEST_F(LostFiles, WithoutItsLastCheckpointsItHasFailed) {
  const RunResult result = run([this](std::uint64_t step) {
    if (step == 3) block("checkpoints");
  });
  EXPECT_EQ(result.exit_code(), 1);
  EXPECT_EQ(result.cause.text(), "directory: the run could not keep its newest checkpoint");
  EXPECT_EQ(said("the checkpoint before it is kept"), 1U) << errors_;
}

TEST_F(LostFiles, ACheckpointThatIsWrittenLaterMakesUpForThoseBefore) {
  const RunResult result = run([this](std::uint64_t step) {
    if (step == 2) block("checkpoints");
    if (step == 3) std::filesystem::remove(directory() / "checkpoints");
  });
  EXPECT_TRUE(result.success) << result.cause.text();
  EXPECT_EQ(said("the checkpoint before it is kept"), 1U) << errors_;
}

}  // namespace
}  // namespace lp::test
