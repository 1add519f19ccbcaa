// Built with -g1, so that its own functions have lines.
#include "launchers/os/backtrace.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>

#include "tests/launchers/tools_for_test.h"

namespace lp::launch {
namespace {

std::string frame_of(std::uintptr_t address) {
  char text[64];  // NOLINT: for snprintf
  std::snprintf(text, sizeof text, "prog(+0x1)[0x%lx]", static_cast<unsigned long>(address));
  return text;
}

class Backtrace : public testing::Test {
 protected:
  void SetUp() override {
    if (test::command("addr2line --version").code != 0) GTEST_SKIP() << "binutils is not installed";
  }
};

TEST_F(Backtrace, NamesFunctionFileAndLineOfALambda) {
  const auto lambda = +[](int x) { return x + 1; };
  const int line = __LINE__ - 1;
  std::vector<std::string> frames{frame_in_file(frame_of(reinterpret_cast<std::uintptr_t>(lambda)), own_code()),
                                  "libc.so.6(+0x7)[0x7]", "prog(+0x1)[+0xffffffffff]"};
  const std::vector<std::string> others(frames.begin() + 1, frames.end());
  add_source_lines(frames, "/proc/" + std::to_string(getpid()) + "/exe");
  ASSERT_GE(frames.size(), 3U);  // a function that the compiler has inlined is a frame, too
  EXPECT_NE(frames[0].find("NamesFunctionFileAndLineOfALambda"), std::string::npos) << frames[0];
  EXPECT_NE(frames[0].find("lambda"), std::string::npos) << frames[0];
  EXPECT_TRUE(frames[0].ends_with("/backtrace_test.cc:" + std::to_string(line))) << frames[0];
  EXPECT_EQ(std::vector<std::string>(frames.end() - 2, frames.end()), others);
}

TEST_F(Backtrace, StaysAsItIsWithoutABinaryOrATool) {
  std::vector<std::string> frames{"prog(f()+0x1)[+0x1000]"};
  const std::vector<std::string> before = frames;
  add_source_lines(frames, "/nonexistent");
  EXPECT_EQ(frames, before);
}

TEST(BacktraceCode, IsReadBackAndNothingElseIs) {
  const ProgramCode code = own_code();
  EXPECT_LT(code.begin, code.end);
  const auto read = read_code_line(code_line(code));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(std::vector({read->begin, read->end, read->bias}), std::vector({code.begin, code.end, code.bias}));
  EXPECT_FALSE(read_code_line("*** lp: its program is loaded at 0x1 here").has_value());
  EXPECT_FALSE(read_code_line("*** lp: worker/1: SIGSEGV, backtrace:").has_value());
  EXPECT_EQ(frame_in_file("prog(+0x1) [0x1", code), "prog(+0x1) [0x1");
}

}  // namespace
}  // namespace lp::launch
