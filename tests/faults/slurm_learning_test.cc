// Programs that learn, and one that serves, as jobs of a real Slurm, unchanged.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/directory.h"
#include "tests/launchers/engines/slurm/slurm_cluster.h"
#include "tests/launchers/subprocess.h"

namespace lp::test {
namespace {

// A program with its flags, and a part of its result.
struct Job {
  std::string program{};
  std::vector<std::string> flags{};
  std::string shown{};
};

class SlurmLearning : public testing::TestWithParam<Job> {};

TEST_P(SlurmLearning, EndsWithItsResult) {
  const Job& job = GetParam();
  const Directory directory;
  setenv("XDG_STATE_HOME", directory.path().c_str(), 1);
  const SlurmCluster cluster(2);
  std::vector<std::string> flags{"--launch=slurm", "--slurm=--nodes=2,--time=5", "--json",
                                 "--directory=" + (directory.path() / job.program).string()};
  flags.insert(flags.end(), job.flags.begin(), job.flags.end());
  Subprocess program(flags, EXAMPLES_FOLDER "/" + job.program);
  EXPECT_EQ(program.wait().code, 0) << program.err();
  const std::string result = program.last_line();
  EXPECT_NE(result.find(job.shown), std::string::npos) << result;
  EXPECT_NE(result.find("\"launch\":\"slurm\""), std::string::npos) << result;
}

INSTANTIATE_TEST_SUITE_P(Programs, SlurmLearning,
                         testing::Values(Job{"dqn", {"--environment=catch", "--steps=3000"}, "\"episodes\":100,"},
                                         Job{"impala", {"--environment=catch", "--steps=3200"}, "\"updates\":20,"},
                                         Job{"ppo", {"--steps=4096"}, "\"updates\":8,"},
                                         Job{"td3", {"--steps=2000"}, "\"episodes\":100,"},
                                         Job{"es", {"--evaluations=640"}, "\"generations\":10,"},
                                         Job{"inference", {"--seconds=0.2", "--clients=1"}, "\"failed\":0,"}),
                         [](const auto& one) { return one.param.program; });

}  // namespace
}  // namespace lp::test
