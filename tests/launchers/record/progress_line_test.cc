#include "launchers/record/progress_line.h"

#include <gtest/gtest.h>

#include "lp/program/progress.h"

namespace lp::launch {
namespace {

TEST(ProgressLine, HasStepsAndValues) {
  EXPECT_EQ(progress_line("", {}), "");
  EXPECT_EQ(progress_line("worker/0", {.step = 3, .values = {{"loss", 0.5}}}), "worker/0: step 3  loss 0.5");
  EXPECT_EQ(progress_line("worker/0", {.step = 1, .total = 2}), "[############            ]  50 %  worker/0: step 1/2");
}

TEST(ProgressLine, NamesOfValuesReachTheTerminalWithoutControlCharacters) {
  EXPECT_EQ(progress_line("worker/0", {.step = 3, .values = {{"a\033[31mred\n\tb\r\x07\xff", 1}}}),
            "worker/0: step 3  a\\x1b[31mred  b\\x0d\\x07\\xff 1");
}

}  // namespace
}  // namespace lp::launch
