// The last states of the nodes of a run that has ended.

#include <gtest/gtest.h>
#include <signal.h>

#include <string>

#include "launchers/supervisor/coordinator.h"
#include "lp/base/enums.h"
#include "lp/base/error.h"
#include "tests/launchers/supervisor/coordinator_fixture.h"

namespace lp::launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class CoordinatorStatusTest : public CoordinatorTest {
 protected:
  // "ended finished failed": of server, worker/0 and worker/1.
  std::string states() const {
    std::string text;
    for (const NodeStatus& node : coordinator_->status().nodes) {
      text += (text.empty() ? "" : " ") + std::string(enum_name(node.state));
    }
    return text;
  }
};

TEST_F(CoordinatorStatusTest, ANodeThatFailedBeforeTheEndHasFailed) {
  make(server_and_workers());
  all_ready();
  finished(1, 1);
  exit(2, {.signal = SIGKILL});
  exit(1);
  exit(0);
  EXPECT_EQ(coordinator_->phase(), Phase::ended);
  EXPECT_EQ(states(), "ended finished failed");
  EXPECT_FALSE(coordinator_->status().nodes[2].given_up);
}

TEST_F(CoordinatorStatusTest, ANodeThatThrowsHasFailedAndItsMatesEndWithTheRun) {
  make(server_and_workers());
  all_ready();
  failed(2, 1, Error(ErrorKind::failed, "no data"));
  finished(1, 1);  // run() returns, because the program stops
  all_exit();
  EXPECT_EQ(states(), "ended ended failed");
}

TEST_F(CoordinatorStatusTest, NodesOfARunThatIsStoppedEndWithIt) {
  make(server_and_workers());
  all_ready();
  finished(1, 1);
  coordinator_->stop("enough", "ann (lp stop)", 0);
  finished(2, 1);
  all_exit();
  EXPECT_EQ(states(), "ended finished ended");
}

TEST_F(CoordinatorStatusTest, NodesHaveFinishedWhenOneOfThemEndsTheRun) {
  make(server_and_workers());
  all_ready();
  stop_requested(1, 1, "reached its goal");
  finished(1, 1);
  all_exit();
  EXPECT_TRUE(coordinator_->result().success);
  EXPECT_EQ(states(), "ended finished ended");
}

TEST_F(CoordinatorStatusTest, ANodeThatDiesDuringTheStopHasFailed) {
  make(server_and_workers(), {.grace = seconds(10)});
  all_ready();
  coordinator_->stop("enough", "ann (lp stop)", 0);
  exit(1, {.signal = SIGSEGV});
  EXPECT_NE(coordinator_->status().nodes[1].text.find("SIGSEGV"), std::string::npos);
  exit(2);
  pass(seconds(11));
  exit(0, {.signal = SIGKILL});  // it did not end in time
  EXPECT_EQ(states(), "failed failed ended");
}

TEST_F(CoordinatorStatusTest, ANodeThatWasToRestartHasFailed) {
  make(server_and_workers(restart(3, seconds(5))));
  all_ready();
  exit(2, {.code = 1});
  EXPECT_EQ(states(), "ready running waiting");
  coordinator_->stop("enough", "ann (lp stop)", 0);
  exit(1);
  exit(0);
  EXPECT_EQ(states(), "ended ended failed");
}

TEST_F(CoordinatorStatusTest, ANodeThatCameBackHasNotFailed) {
  make(server_and_workers(restart(3, milliseconds(100))));
  all_ready();
  exit(2, {.code = 1});
  pass(milliseconds(100));
  ready(2, 2);
  coordinator_->stop("enough", "ann (lp stop)", 0);
  exit(2, {}, 2);
  exit(1);
  exit(0);
  EXPECT_EQ(states(), "ended ended ended");
}

}  // namespace
}  // namespace lp::launch
