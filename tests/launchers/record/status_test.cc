#include "launchers/record/status.h"

#include <gtest/gtest.h>

namespace lp {
namespace {

TEST(StopText, SaysByWhomAndThenWhyIfThatIsMore) {
  EXPECT_EQ(stop_text("ann (lp stop)", "ann (lp stop)"), "by ann (lp stop)");
  EXPECT_EQ(stop_text("ann (lp stop)", "enough"), "by ann (lp stop): enough");
  EXPECT_EQ(stop_text("SIGINT", "SIGINT"), "by SIGINT");
  EXPECT_EQ(stop_text("SIGINT", "SIGINT; its nodes were killed"), "by SIGINT; its nodes were killed");
  EXPECT_EQ(stop_text("SIGUSR2", "its time limit is near; its checkpoint is that of step 5"),
            "by SIGUSR2: its time limit is near; its checkpoint is that of step 5");
}

}  // namespace
}  // namespace lp
