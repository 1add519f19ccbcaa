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
            "LaunchOptions::idle has \"wrokers\", but the program has no such group; did you mean worker?");
  EXPECT_EQ(refusal({.idle = {"worker/0"}}),
            "LaunchOptions::idle has \"worker/0\", but the program has no such group; did you mean worker?");
  EXPECT_EQ(refusal({.idle = {"counter", "worker"}}), "none");
}

TEST(LaunchCheck, AHeartbeatIsMoreThanNothing) {
  for (const LaunchType launch : {LaunchType::threads, LaunchType::processes}) {
    EXPECT_EQ(refusal({.launch = launch, .heartbeat = seconds(0)}),
              "LaunchOptions::heartbeat is 0 ms: it must be above 0, or every service would count as hanging");
  }
  EXPECT_NE(refusal({.heartbeat = seconds(-3)}).find("LaunchOptions::heartbeat is -3000 ms: "), std::string::npos);
}

TEST(LaunchCheck, AGraceIsNotNegative) {
  EXPECT_EQ(refusal({.grace = milliseconds(-5)}),
            "LaunchOptions::grace is -5 ms: it must be 0, to kill nodes at once, or more");
  EXPECT_NO_THROW(launch::check_options(make_counting({}), {.grace = seconds(0)}));
}

}  // namespace
}  // namespace lp::test
