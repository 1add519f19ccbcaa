// Programs that learn, and one that serves, as jobs of a real Slurm, unchanged.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/directory.h"
#include "tests/launchers/engines/slurm/slurm_cluster.h"
#include "tests/launchers/subprocess.h"

namespace lp::test {
namespace {

TEST(SlurmLearningTest, EveryProgramEndsWithItsResult) {
  const Directory directory;
  setenv("XDG_STATE_HOME", directory.path().c_str(), 1);
  const SlurmCluster cluster(2);
  struct Job {
    std::string program{};
    std::vector<std::string> flags{};
    std::string shown{};  // in the result
  };
  const std::vector<Job> jobs{{"dqn", {"--environment=catch", "--steps=3000"}, "\"episodes\":100,"},
                              {"impala", {"--environment=catch", "--steps=3200"}, "\"updates\":20,"},
                              {"ppo", {"--steps=4096"}, "\"updates\":8,"},
                              {"td3", {"--steps=2000"}, "\"episodes\":100,"},
                              {"es", {"--evaluations=640"}, "\"generations\":10,"},
                              {"inference", {"--seconds=0.2", "--clients=1"}, "\"failed\":0,"}};
  for (const Job& job : jobs) {
    std::vector<std::string> flags{"--launch=slurm", "--slurm=--nodes=2,--time=5", "--json",
                                   "--directory=" + (directory.path() / job.program).string()};
    flags.insert(flags.end(), job.flags.begin(), job.flags.end());
    Subprocess program(flags, EXAMPLES_FOLDER "/" + job.program);
    EXPECT_EQ(program.wait().code, 0) << job.program << "\n" << program.err();
    const std::string result = program.last_line();
    EXPECT_NE(result.find(job.shown), std::string::npos) << job.program << ": " << result;
    EXPECT_NE(result.find("\"launch\":\"slurm\""), std::string::npos) << result;
  }
}

}  // namespace
}  // namespace lp::test
