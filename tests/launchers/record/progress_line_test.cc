#include "launchers/record/progress_line.h"

#include <gtest/gtest.h>

#include <string>

#include "lp/program/progress.h"

namespace lp::launch {
namespace {

TEST(ProgressLine, HasStepsAndValues) {
  EXPECT_EQ(progress_line("", {}), "");
  EXPECT_EQ(progress_line("worker/0", {.step = 3, .values = {{"loss", 0.5}}}), "worker/0: step 3  loss 0.5");
  EXPECT_EQ(progress_line("worker/0", {.step = 1, .total = 2}), "[############            ]  50 %  worker/0: step 1/2");
}

TEST(ProgressLine, ManyValuesAreCounted) {
  Progress progress{.step = 3};
  for (int i = 0; i < 1000; ++i) progress.values.emplace_back("value" + std::to_string(i), i);
  const std::string line = progress_line("worker/0", progress);
  EXPECT_TRUE(line.starts_with("worker/0: step 3  value0 0  value1 1")) << line;
  EXPECT_TRUE(line.ends_with(" more values")) << line;
  EXPECT_LT(line.size(), 450U);
}

TEST(ProgressLine, NamesOfValuesReachTheTerminalWithoutControlCharacters) {
  EXPECT_EQ(progress_line("worker/0", {.step = 3, .values = {{"a\033[31mred\n\tb\r\x07\xff", 1}}}),
            "worker/0: step 3  a\\x1b[31mred  b\\x0d\\x07\\xff 1");
}

}  // namespace
}  // namespace lp::launch
