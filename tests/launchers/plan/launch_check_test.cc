// Options that a launch refuses before anything has started.

#include "launchers/plan/launch_check.h"

#include <gtest/gtest.h>

#include "tests/launchers/programs_for_test.h"

namespace lp::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string refusal(LaunchOptions options) {
  try {
    lp::Run run(make_counting({}), std::move(options));
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(LaunchCheck, AGroupThatTheProgramDoesNotHaveCannotBeIdle) {
  EXPECT_EQ(refusal({.idle = {"counter", "wrokers"}}),
            "the options of the launch have \"wrokers\" idle, and the program has no such group; did you mean worker?");
  EXPECT_EQ(
      refusal({.idle = {"worker/0"}}),
      "the options of the launch have \"worker/0\" idle, and the program has no such group; did you mean worker?");
  EXPECT_EQ(refusal({.idle = {"counter", "worker"}}), "none");
}

TEST(LaunchCheck, AHeartbeatIsMoreThanNothing) {
  for (const LaunchType launch : {LaunchType::threads, LaunchType::processes}) {
    EXPECT_EQ(
        refusal({.launch = launch, .heartbeat = seconds(0)}),
        "the options of the launch have a heartbeat of 0 ms: it must be more than 0, or every service would count "
        "as hanging");
  }
  EXPECT_NE(refusal({.heartbeat = seconds(-3)}).find("a heartbeat of -3000 ms: "), std::string::npos);
}

TEST(LaunchCheck, AGraceIsNotNegative) {
  EXPECT_EQ(refusal({.grace = milliseconds(-5)}),
            "the options of the launch have a grace of -5 ms: it must be 0, to end nodes at once, or more");
  EXPECT_NO_THROW(internal::check_options(make_counting({}), {.grace = seconds(0)}));
}

}  // namespace
}  // namespace lp::test
