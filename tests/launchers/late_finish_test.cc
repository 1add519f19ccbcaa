// A node finishes with a service that has gone back to a cut meanwhile.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "lp/base/descriptor.h"
#include "tests/launchers/tally_program.h"
#include "tests/launchers/tools_for_test.h"

namespace lp::test {
namespace {

class LateFinish : public testing::TestWithParam<LaunchType> {};
INSTANTIATE_TEST_SUITE_P(Launches, LateFinish, testing::Values(LaunchType::threads, LaunchType::processes),
                         [](const auto& one) { return one.param == LaunchType::threads ? "Threads" : "Processes"; });

// Waits until the second incarnation of a node serves.
void wait_restarted(lp::Run& run, const std::string& name) {
  const Time end = after(std::chrono::seconds(60));
  bool restarted = false;
  while (!restarted && !run.wait_for(std::chrono::milliseconds(1))) {
    ASSERT_LT(now(), end);
    const RunStatus status = run.status();
    restarted = std::any_of(status.nodes.begin(), status.nodes.end(), [&](const NodeStatus& node) {
      return node.name == name && node.incarnation == 2 && node.state >= NodeStatus::State::ready;
    });
  }
}

// The worker's work was lost with the tally that it finished with.
TEST_P(LateFinish, WithWhatIsGoneIsNoEnd) {
  const Directory directory;
  const TallyConfig config{.gate = directory.path() / "gate"};
  ASSERT_EQ(mkfifo(config.gate.c_str(), 0600), 0);
  LaunchOptions options = processes(config, "tally");
  options.launch = GetParam();
  int total = 0;
  options.report = [&](lp::Run& run) { total = run.client<Tally>("tally").call<&Tally::total>(); };
  lp::Run run(make_tally(config), options);
  run.client<Tally>("tally").call<&Tally::added>();
  run.client<Tally>("tally").send<&Tally::fail>();  // its process may end before a reply leaves
  wait_restarted(run, "tally");
  const Descriptor gate(open(config.gate.c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_TRUE(run.wait().success) << run.wait().cause.text();
  EXPECT_EQ(total, 1);
}

}  // namespace
}  // namespace lp::test
