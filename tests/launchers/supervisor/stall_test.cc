#include "launchers/supervisor/stall.h"

#include <gtest/gtest.h>

namespace lp::launch {
namespace {

using State = NodeStatus::State;

// Two nodes, of which the first calls the other.
class StallTest : public testing::Test {
 protected:
  // Returns its report if the run stands still now, and did not before.
  std::string update(double computed = 0) {
    cpu_ += computed;
    MeasureRecord::Calls calls{
        .caller = "worker/0", .callee = "server", .method = "pull", .calls = calls_, .ended = ended_};
    stall_.on_measured(0, {.use = ProcessUse{.cpu = cpu_}, .calls = std::vector{calls}});
    turned_ = stall_.update(status_, 0);
    return turned_ ? stall_.text() : std::string();
  }

  Stall stall_{std::chrono::seconds(30)};
  bool turned_ = false;
  RunStatus status_{.phase = Phase::running,
                    .nodes = {{.name = "worker/0", .state = State::running},
                              {.name = "worker/1", .state = State::running},
                              {.name = "server", .state = State::ready}}};
  std::uint64_t calls_ = 3;
  std::uint64_t ended_ = 1;
  double cpu_ = 7;
};

TEST_F(StallTest, WhoWaitsForWhatIsSaidOnceWhenNothingMoves) {
  EXPECT_EQ(update(), "");
  EXPECT_EQ(update(), "");
  EXPECT_EQ(
      update(),
      "no node has made progress for 60 s; these nodes wait: worker/0 for 2 calls of server.pull; worker/1 in its "
      "run()");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(update(), "");
  EXPECT_TRUE(stall_.text().starts_with("no node has made progress for 360 s; these nodes wait: ")) << stall_.text();
  ++ended_;
  EXPECT_EQ(update(), "");
  EXPECT_TRUE(turned_);
  EXPECT_EQ(stall_.text(), "");
}

TEST_F(StallTest, ACallThatEndsAProgressAndWorkAreMovement) {
  for (int i = 0; i < 10; ++i) {
    if (i % 3 == 0) ++ended_, ++calls_;
    if (i % 3 == 1) ++status_.nodes[0].step;
    EXPECT_EQ(update(i % 3 == 2 ? 5.0 : 0.0), "");
  }
}

TEST_F(StallTest, AProgramWithPausesIsToldAfterLongerAndLonger) {
  for (int i = 0; i < 2; ++i) update();
  EXPECT_NE(update(), "");
  ++status_.nodes[0].step;
  EXPECT_EQ(update(), "");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(update(), "");
  EXPECT_TRUE(update().starts_with("no node has made progress for 120 s; "));
}

TEST_F(StallTest, WhereNoNodeRunsNobodyIsMissed) {
  for (NodeStatus& node : status_.nodes) node.state = State::ready;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(update(), "");
}

}  // namespace
}  // namespace lp::launch
