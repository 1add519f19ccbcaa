#include "lp/base/message.h"

#include <gtest/gtest.h>

namespace lp {
namespace {

using namespace std::chrono_literals;

TEST(Message, ADurationIsToldInAUnitThatFits) {
  EXPECT_EQ(duration_text(60s), "60 s");
  EXPECT_EQ(duration_text(1500ms), "1.5 s");
  EXPECT_EQ(duration_text(1s), "1 s");
  EXPECT_EQ(duration_text(250ms), "250 ms");
  EXPECT_EQ(duration_text(1500us), "1.5 ms");
  EXPECT_EQ(duration_text(0s), "0 ms");
  EXPECT_EQ(duration_text(1h), "3600 s");
}

}  // namespace
}  // namespace lp
