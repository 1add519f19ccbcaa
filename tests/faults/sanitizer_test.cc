// A worker that a sanitizer stops is a failure like any other: named, with its cause, at once, in every output mode.

#include <gtest/gtest.h>

#include "tests/launchers/tools_for_test.h"

namespace lp::test {
namespace {

class Sanitizer : public testing::TestWithParam<const char*> {
 protected:
  // Neither the grace period nor a heartbeat ever ends: an end that waited for one of them would not come.
  Ended run(const std::string& flags) const {
    return command("timeout -k 5 100 '" SANITIZED_PROGRAM "' --grace=inf --heartbeat=1000 --directory='" +
                   (directory_.path() / "run").string() + "' " + flags);
  }
  static void expect_failure(const Ended& ended, const std::string& cause) {
    EXPECT_EQ(ended.code, 1) << ended.output;
    const std::string last = ended.output.substr(ended.output.find("lp: the program failed: "));
    EXPECT_TRUE(last.starts_with("lp: the program failed: worker/1: exited with code 1: ")) << ended.output;
    EXPECT_NE(last.find(cause), std::string::npos) << last;
    EXPECT_NE(last.find("the end of its standard error:\n    about to fail\n"), std::string::npos) << last;
  }

  const Directory directory_;
};

TEST_P(Sanitizer, StopsAWorkerThatReadsBeyondTheHeap) {
  const Ended ended = run(std::string("--launch=processes --mode=overflow --output=") + GetParam());
  expect_failure(ended, "AddressSanitizer: heap-buffer-overflow");
  EXPECT_NE(ended.output.find("its backtrace:\n        #0 "), std::string::npos) << ended.output;
  EXPECT_NE(ended.output.find("sanitized.cc:"), std::string::npos) << ended.output;
}

TEST_P(Sanitizer, StopsAWorkerWhoseArithmeticIsUndefined) {
  expect_failure(run(std::string("--launch=processes --mode=arithmetic --output=") + GetParam()),
                 "runtime error: signed integer overflow: ");
}

INSTANTIATE_TEST_SUITE_P(Output, Sanitizer, testing::Values("lines", "progress", "none"),
                         [](const auto& mode) { return std::string(mode.param); });

TEST_F(Sanitizer, StopsAThreadAndItsNodeIsNamedLast) {
  const Ended ended = run("--launch=threads --mode=overflow");
  EXPECT_EQ(ended.code, 1) << ended.output;
  EXPECT_NE(ended.output.find("SUMMARY: AddressSanitizer: heap-buffer-overflow"), std::string::npos) << ended.output;
  EXPECT_TRUE(
      ended.output.ends_with("*** lp: sanitized: in worker/1: was stopped by a sanitizer; its report is above\n"))
      << ended.output;
}

}  // namespace
}  // namespace lp::test
