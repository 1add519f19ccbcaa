// Checkpoints that cannot be saved, because the run's disk is full for instance: the pipeline waits before it tries
// again, and ends when one is saved.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <utility>

#include "launchers/test_run.h"
#include "lp/base/file.h"
#include "tests/programs/pipeline/pipeline_run.h"

namespace lp {
namespace {

// No records. From its end on there is a file in the place of the run's checkpoints. Counts the cuts of its stage.
class CountsCuts final : public dataflow::Operator, public dataflow::StageSource, public dataflow::Producer<int> {
 public:
  CountsCuts(std::atomic<int>& cuts, std::filesystem::path checkpoints)
      : cuts_(cuts), checkpoints_(std::move(checkpoints)) {}
  Step step() override {
    std::filesystem::remove_all(checkpoints_);
    write_file(checkpoints_, "");
    return Step::over;
  }
  void mark(const dataflow::Mark& mark) override { emit_mark(mark); }
  void cut(std::uint64_t) override { ++cuts_; }

 private:
  std::atomic<int>& cuts_;
  const std::filesystem::path checkpoints_;
};

TEST(FailedCutsTest, APipelineWaitsLongerAndLongerForRoomAndEndsWhenThereIsSome) {
  const test::PipelineFiles files;
  const std::filesystem::path run = files.path() / "run", checkpoints = run / "checkpoints";
  std::atomic<int> cuts = 0;
  Pipeline pipeline;
  pipeline
      .source<int>({.name = "none", .replicas = 1},
                   [&](dataflow::StageSite&) { return std::make_unique<CountsCuts>(cuts, checkpoints); })
      .write(files.output(), [](int, Output&) {});
  Program program("test");
  add_pipeline(program, pipeline, {});
  const Time begun = now();
  lp::Run going(std::move(program), {.directory = run});
  while (cuts < 4) going.wait_for(std::chrono::milliseconds(1));
  EXPECT_GE(now() - begun, std::chrono::milliseconds(100 + 200 + 400));
  EXPECT_NE(going.status().unsaved, "");
  std::filesystem::remove(checkpoints);
  EXPECT_TRUE(going.wait().success) << going.wait().cause.text();
  EXPECT_EQ(going.status().unsaved, "");
}

}  // namespace
}  // namespace lp
