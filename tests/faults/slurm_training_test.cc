// A training that is a job of a real Slurm, and loses a node of the cluster, or its time, in the middle. Its result is
// that of an undisturbed training.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "launchers/os/spawn.h"
#include "lp/base/scheduler.h"
#include "tests/directory.h"
#include "tests/launchers/engines/slurm/slurm_cluster.h"
#include "tests/launchers/subprocess.h"
#include "tests/launchers/watched.h"

namespace lp::test {
namespace {

using std::chrono::seconds;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class SlurmTrainingTest : public testing::Test {
 protected:
  SlurmTrainingTest() { setenv("XDG_STATE_HOME", directory_.path().c_str(), 1); }

  // n1 has the coordinator; the servers begin on n2 and n4, the workers on n3 and n4.
  std::vector<std::string> training(std::vector<std::string> flags, const std::string& steps = "2000") const {
    std::ofstream(directory_.path() / "c.yaml")
        << "groups:\n  server: {hosts: [n2, n4]}\n  worker: {hosts: [n3, n4]}\n";
    flags.insert(flags.begin(), {"--config=" + (directory_.path() / "c.yaml").string(), "--launch=slurm", "--grace=10",
                                 "--json", "--directory=" + run_.string(), "--workers=3", "--servers=2", "--hidden=16",
                                 "--checkpoint-every=20", "--restarts=3", "--steps=" + steps});
    return flags;
  }

  // Waits until the training has taken a cut.
  void wait_for_cut() const {
    Event never;
    for (const Time end = after(seconds(60)); now() < end; never.wait(after(std::chrono::milliseconds(5)))) {
      std::error_code none;
      for (const auto& cut : std::filesystem::directory_iterator(run_ / "checkpoints", none)) {
        if (std::filesystem::exists(cut.path() / "MANIFEST", none)) return;
      }
    }
    ADD_FAILURE() << "there is no cut:\n" << contents(run_ / "job.err");
  }

  // All processes on the nodes that belong to the job.
  AllWatched processes() const {
    std::vector<int> all;
    for (const std::string node : {"n1", "n2", "n3", "n4"}) {
      for (const int process : cluster_.processes_on(node)) all.push_back(process);
    }
    return watch(all);
  }

  static std::string hash_of(const Subprocess& program) {
    const std::string line = program.last_line();
    const std::size_t at = line.find("parameters_hash");
    return at == std::string::npos ? "none: " + line : line.substr(at, line.find(',', at) - at);
  }

  static std::string undisturbed(const std::string& steps = "2000") {
    Subprocess program({"--workers=3", "--servers=2", "--hidden=16", "--steps=" + steps, "--json"}, DIGITS_PROGRAM);
    EXPECT_EQ(program.wait().code, 0) << program.err();
    return hash_of(program);
  }

  static void take_down(const std::string& node) {
    EXPECT_EQ(command("scontrol update nodename=" + node + " state=down reason=test").code, 0);
  }

  const Directory directory_;
  const std::filesystem::path run_ = directory_.path() / "run";
  SlurmCluster cluster_{4};
};

TEST_F(SlurmTrainingTest, AWorkersOrAServersNodeThatFailsChangesNoBit) {
#if defined(LP_SANITIZED)
  const std::string steps = "5000";
#else
  const std::string steps = "10000";  // more than can be done before Slurm has ended the processes on both
#endif
  Subprocess program(training({"--slurm=--nodes=4,--time=5"}, steps), DIGITS_PROGRAM);
  wait_for_cut();
  take_down("n3");
  ASSERT_TRUE(program.read_until("; restart 1 of 3"));
  take_down("n2");
  EXPECT_EQ(program.wait().code, 0) << program.err();
  // Slurm kills the processes of a node in any order: a server can die before its agent or with it.
  EXPECT_TRUE(has(program.err(), "server/0: was lost with its host n2") ||
              has(program.err(), "server/0: was killed by signal 9 (SIGKILL); restart 1 of 3"))
      << program.err();
  EXPECT_EQ(hash_of(program), undisturbed(steps));
}

// The connection of its agent with the coordinator is stopped, as if its cable was pulled. Its workers go on for a
// while, and their messages of that time must not count.
TEST_F(SlurmTrainingTest, ANodeThatIsCutOffChangesNoBit) {
  Subprocess program(training({"--slurm=--nodes=4,--time=5"}), DIGITS_PROGRAM);
  wait_for_cut();
  const AllWatched there = watch(cluster_.processes_on("n3"));
  int stopped = 0;
  for (const int process : cluster_.processes_on("n3")) {
    if (has(command_line_of(process), " --lp-dial=") && !has(command_line_of(process), "/bin/sh ")) {
      stopped += kill(process, SIGSTOP) == 0;
    }
  }
  ASSERT_EQ(stopped, 1);
  EXPECT_EQ(program.wait().code, 0) << program.err();
  EXPECT_TRUE(has(program.err(), "was lost with its host n3: it has not answered for ")) << program.err();
  EXPECT_EQ(hash_of(program), undisturbed());
  expect_end_within(seconds(10), there);
}

TEST_F(SlurmTrainingTest, TheCoordinatorsNodeThatFailsEndsTheJobAndNothingIsLeft) {
  Subprocess program(training({"--slurm=--nodes=4,--time=5"}, "1000000"), DIGITS_PROGRAM);
  wait_for_cut();
  const AllWatched all = processes();
  const Time begin = now();
  take_down("n1");
  EXPECT_NE(program.wait().code, 0);
  EXPECT_LT(now() - begin, seconds(30));
  EXPECT_TRUE(has(program.err(), "(its first node, n1, has failed)")) << program.err();
  expect_end_within(seconds(10), all);
}

TEST_F(SlurmTrainingTest, TheCoordinatorsNodeThatFailsChangesNoBitWhenTheJobMayBeginAgain) {
  Subprocess program(training({"--slurm=--nodes=4,--time=5", "--requeue"}), DIGITS_PROGRAM);
  wait_for_cut();
  take_down("n1");
  EXPECT_EQ(program.wait().code, 0) << program.err();
  EXPECT_TRUE(has(program.err(), "is PENDING")) << program.err();
  EXPECT_EQ(hash_of(program), undisturbed());
}

TEST_F(SlurmTrainingTest, ATimeLimitLeavesACutAndNothingElse) {
  Subprocess program(training({"--slurm=--nodes=4,--time=1", "--time-margin=30"}, "1000000"), DIGITS_PROGRAM);
  wait_for_cut();
  const AllWatched all = processes();
  EXPECT_EQ(program.wait(seconds(60)).code, 128 + SIGUSR2);
  EXPECT_TRUE(
      has(program.err(), "the program was stopped by SIGUSR2: its time limit is near; its checkpoint is that of step "))
      << program.err();
  expect_end_within(seconds(10), all);
}

}  // namespace
}  // namespace lp::test
