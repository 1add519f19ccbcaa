// Many nodes at once become ready, answer and stop; an error names the limit of the system that prevents it.

#include "tests/bench/scale.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/launchers/tools_for_test.h"

namespace lp::test {
namespace {

void all_answer_and_stop(LaunchType launch, int nodes) {
  const ScaleFigures figures = measure_scale(launch, nodes);
  EXPECT_EQ(figures.answers, nodes) << figures.cause;
  EXPECT_TRUE(figures.success) << figures.cause;
}

TEST(Scale, ManyProcessesAnswerAndStop) { all_answer_and_stop(LaunchType::processes, 40); }
TEST(Scale, ThousandsOfThreadNodesAnswerAndStop) { all_answer_and_stop(LaunchType::threads, 3000); }
TEST(ScaleLong, HundredsOfProcessesAnswerAndStop) { all_answer_and_stop(LaunchType::processes, 300); }

TEST(Scale, TheLimitOfDescriptorsIsNamed) {
  const Ended ended = program("--nodes=300 --launch=processes", "prlimit --nofile=256:256");
  EXPECT_EQ(ended.code, 2) << ended.output;
  EXPECT_NE(ended.output.find("`ulimit -n` allows 256: raise it with `ulimit -n "), std::string::npos) << ended.output;
}

// Root has no limit of processes, so another user runs it. It may read what root may, since the build folder can lie in
// root's home.
const std::string kAsNobody =
    "env HOME=/tmp setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=+dac_read_search "
    "--ambient-caps=+dac_read_search";

void expect_named(const std::string& flags, int limit) {
  const Directory directory;
  std::filesystem::permissions(directory.path(), std::filesystem::perms::all);
  const Ended ended = program(flags + " --directory='" + (directory.path() / "run").string() + "'",
                              kAsNobody + " prlimit --nproc=" + std::to_string(limit));
  EXPECT_NE(ended.code, 0) << limit << ": " << ended.output;
  EXPECT_NE(ended.code, 124) << limit << ": " << ended.output;
  EXPECT_NE(ended.output.find("ulimit -u"), std::string::npos) << limit << ": " << ended.output;
}

TEST(Scale, TheLimitOfProcessesIsNamed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become nobody";
  for (const int limit : {1, 2, 3, 5, 8, 60}) expect_named("--nodes=60 --launch=processes", limit);
}

TEST(Scale, TheLimitOfThreadsIsNamed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become nobody";
  for (int limit = 1; limit < 6; ++limit) expect_named("--program=saving", limit);
}

}  // namespace
}  // namespace lp::test
