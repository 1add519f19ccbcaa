// One loop follows the jobs of all engines.

#include "launchers/engine_interface/follow.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "lp/base/error.h"

namespace lp::launch {
namespace {

// A job that has ended after `asks` answers. Ctrl-C comes while it runs, `interrupts` times.
class FakeJob final : public FollowedJob {
 public:
  FakeJob(int asks, int interrupts, int failures = 0) : asks_(asks), interrupts_(interrupts), failures_(failures) {}

  void ask() override {
    if (failures_-- > 0) throw Error(ErrorKind::failed, "the engine is busy");
    --asks_;
  }
  std::optional<int> report(Poller&) override {
    if (asks_ <= 0) return 7;
    if (interrupts_-- > 0) kill(getpid(), SIGINT);
    return std::nullopt;
  }
  bool take_output(Poller&) override { return false; }
  void cancel() override { ++cancelled_; }

  int cancelled() const { return cancelled_; }

 private:
  int asks_;
  int interrupts_;
  int failures_;
  int cancelled_ = 0;
};

TEST(Follow, ReturnsTheExitCodeOfTheJob) {
  FakeJob job(2, 0);
  EXPECT_EQ(follow(job), 7);
  EXPECT_EQ(job.cancelled(), 0);
}

TEST(Follow, AnEngineThatDoesNotAnswerIsAskedAgain) {
  FakeJob job(1, 0, 2);
  EXPECT_EQ(follow(job), 7);
}

TEST(Follow, TheFirstInterruptEndsTheJobAndTheSecondOneLeavesIt) {
  FakeJob once(3, 1);
  EXPECT_EQ(follow(once), 7);
  EXPECT_EQ(once.cancelled(), 1);
  FakeJob twice(1000, 2);
  EXPECT_EQ(follow(twice), kInterrupted);
  EXPECT_EQ(twice.cancelled(), 1);
}

}  // namespace
}  // namespace lp::launch
