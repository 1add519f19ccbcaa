#include "lp/base/text.h"

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

TEST(Message, MemoryIsToldInAUnitThatFits) {
  EXPECT_EQ(memory_text(0), "0");
  EXPECT_EQ(memory_text(512), "512");
  EXPECT_EQ(memory_text(1536), "1.5K");
  EXPECT_EQ(memory_text(std::uint64_t{512} << 20), "512M");
  EXPECT_EQ(memory_text(std::uint64_t{3} << 30), "3G");
  EXPECT_EQ(memory_text(std::uint64_t{3000} << 40), "3000T");
}

}  // namespace
}  // namespace lp
