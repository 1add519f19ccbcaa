// Large files outside of the directory of a run whose launcher was killed: the next launch removes them, or `lp rm`.

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include "tests/launchers/watched.h"
#include "tests/tools/lp/lp_fixture.h"

namespace lp::test {
namespace {

class RmTest : public LpTest {
 protected:
  RmTest() { setenv("LP_TEST_SCRATCH", scratch_.path().c_str(), 1); }
  ~RmTest() override { unsetenv("LP_TEST_SCRATCH"); }

  // Kills the launcher of a run whose nodes have large files. Returns the run's name.
  std::string kill_launcher() const {
    Subprocess program({"program", "--launch=processes", "--mode=keeps large files"});
    EXPECT_TRUE(program.read_until("waiting")) << program.err();
    wait_until_running();
    const auto processes = watch(launch::descendants(program.pid()));
    program.kill(SIGKILL);
    program.wait();
    expect_end_within(std::chrono::seconds(20), processes);
    return std::filesystem::directory_iterator(runs())->path().filename().string();
  }
  // The directories of large files.
  std::set<std::string> large() const {
    std::set<std::string> out;
    for (const auto& one : std::filesystem::directory_iterator(scratch_.path())) out.insert(one.path().filename());
    return out;
  }

 private:
  const Directory scratch_;
};

using Names = std::set<std::string>;

TEST_F(RmTest, RemovesWhatAKilledLauncherHasLeft) {
  const std::string run = kill_launcher();
  EXPECT_EQ(large(), (Names{"lp-" + run, "lp-" + run + "-cuts"}));
  const Ended removed = lp("rm " + run);
  EXPECT_EQ(removed.code, 0) << removed.output;
  EXPECT_EQ(large(), Names());
}

TEST_F(RmTest, ALaunchLeavesItWhatCheckpointsName) {
  const std::string run = kill_launcher();
  Subprocess next({"program"});
  EXPECT_EQ(next.wait().code, 0) << next.err();
  EXPECT_EQ(large(), Names{"lp-" + run + "-cuts"});
  EXPECT_EQ(lp("rm " + run).code, 0);
  EXPECT_EQ(large(), Names());
}

TEST_F(RmTest, AStoppedRunLeavesItNothingThatNoCheckpointNames) {
  Subprocess program({"program", "--launch=processes", "--mode=keeps large files"});
  EXPECT_TRUE(program.read_until("waiting")) << program.err();
  wait_until_running();
  EXPECT_EQ(large().size(), 2U);
  EXPECT_EQ(lp("stop last").code, 0);
  program.wait();
  EXPECT_EQ(large(), Names());
}

}  // namespace
}  // namespace lp::test
