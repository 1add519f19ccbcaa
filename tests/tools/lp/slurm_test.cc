// lp and jobs of a real Slurm: while they wait, while they run, and when they have ended silently.

#include "lp/base/json_value.h"
#include "tests/launchers/engines/slurm/slurm_cluster.h"
#include "tests/tools/lp/lp_fixture.h"

namespace lp::test {
namespace {

class LpSlurmTest : public LpTest {
 protected:
  // The flags of a program that is submitted, and not followed.
  static std::vector<std::string> job(const std::string& mode, const std::string& options = "--nodes=3,--time=5") {
    return {"program", "--launch=slurm", "--slurm=" + options, "--submit", "--grace=2", "--mode=" + mode};
  }

  static void submit(const std::vector<std::string>& arguments) {
    Subprocess program(arguments);
    ASSERT_EQ(program.wait().code, 0) << program.err();
  }

  // Runs lp until its output has this text.
  static Ended lp_until(const std::string& words, const std::string& text) {
    Event never;
    Ended ended = lp(words);
    for (const Time end = after(std::chrono::seconds(60)); !has(ended.output, text) && now() < end; ended = lp(words)) {
      never.wait(after(std::chrono::milliseconds(100)));
    }
    EXPECT_TRUE(has(ended.output, text)) << text << "\n" << ended.output;
    return ended;
  }

  // The run, for a host that does not see its directory: `there` has the files of the submission.
  std::string seen_from_elsewhere(const Directory& there) const {
    const std::filesystem::path directory = std::filesystem::directory_iterator(runs())->path();
    for (const char* file : {"plan.json", "run.json", "job"})
      std::filesystem::copy(directory / file, there.path() / file);
    return there.path().string() + "/";
  }

  SlurmCluster cluster_;
};

TEST_F(LpSlurmTest, AJobThatWaitsIsARun) {
  submit(job("waits", "--nodes=3,--time=5,--hold"));
  EXPECT_TRUE(has(lp("list").output, " pending ")) << lp("list").output;
  const Ended status = lp("status last");
  EXPECT_TRUE(has(status.output, ": pending")) << status.output;
  EXPECT_TRUE(has(status.output, "job 1 waits (JobHeldUser)")) << status.output;
  const JsonValue json = JsonValue::parse(lp("status last --json").output);
  EXPECT_EQ(json.find("life")->text(), "pending");
  EXPECT_EQ(json.find("record")->find("job")->text(), "1");
  EXPECT_TRUE(has(lp("describe last").output, "worker")) << lp("describe last").output;
  EXPECT_EQ(lp("top last").code, 4);

  std::vector<std::string> again = job("waits");
  again.push_back("--directory=" + std::filesystem::directory_iterator(runs())->path().string());
  Subprocess second(again);
  EXPECT_EQ(second.wait().code, 2);
  EXPECT_TRUE(has(second.err(), " already holds another run")) << second.err();

  const Ended stop = lp("stop last");
  EXPECT_EQ(stop.code, 0) << stop.output;
  EXPECT_TRUE(has(stop.output, "job 1 ended as CANCELLED")) << stop.output;
  EXPECT_TRUE(has(lp("list").output, " cancelled ")) << lp("list").output;
}

TEST_F(LpSlurmTest, AJobThatSlurmRefusesIsNoRun) {
  Subprocess program(job("waits", "--partition=none"));
  EXPECT_EQ(program.wait().code, 2);
  EXPECT_TRUE(has(lp("list").output, "There is no run yet")) << lp("list").output;
}

TEST_F(LpSlurmTest, ARunWhoseCoordinatorDiedIsToldBySlurm) {
  submit(job("says that it waits"));
  lp_until("list", " running ");
  const JsonValue json = JsonValue::parse(lp("status last --json").output);
  const int coordinator = from_json<int>(*json.find("record")->find("pid"));
  ASSERT_GT(coordinator, 0);
  kill(coordinator, SIGKILL);
  lp_until("list", " failed ");
  const Ended status = lp_until("status last", "job 1 ended as FAILED");
  EXPECT_TRUE(has(status.output, "and left no result")) << status.output;
  EXPECT_EQ(lp("stop last").code, 0);
}

TEST_F(LpSlurmTest, ARunIsSeenAndStoppedFromAnotherHost) {
  submit(job("says that it waits"));
  lp_until("list", " running ");
  const Directory other;
  const std::string run = seen_from_elsewhere(other);
  const Ended status = lp("status " + run);
  EXPECT_TRUE(has(status.output, ": on n1")) << status.output;
  EXPECT_TRUE(has(status.output, "worker/1  running")) << status.output;
  EXPECT_TRUE(has(lp("top " + run + " --once --interval=0.1").output, "worker/1")) << status.output;
  EXPECT_EQ(lp("logs " + run + " worker/1").output, lp("logs last worker/1").output);
  EXPECT_TRUE(has(lp("logs " + run + " worker/1").output, "waiting"));
  OnTerminal logs = on_terminal({"logs", run, "-f"});
  ASSERT_TRUE(logs.read_until("waiting")) << logs.shown();
  EXPECT_EQ(lp("restart " + run + " nobody").code, 3);
  const Ended stop = lp("stop " + run + " --reason=enough");
  EXPECT_EQ(stop.code, 0) << stop.output;
  EXPECT_TRUE(has(stop.output, ": job 1 ended as FAILED")) << stop.output;
  EXPECT_EQ(logs.wait(), 0) << logs.shown();
  EXPECT_TRUE(has(lp("status last").output, "enough")) << lp("status last").output;
}

// The coordinator is in its first component, which is not that of the workers.
TEST_F(LpSlurmTest, AJobOfTwoComponentsIsSeenAndStoppedFromAnotherHost) {
  const Directory other;
  std::ofstream(other.path() / "c.yaml") << "groups:\n  counter:\n    slurm: [--constraint=is-n2]\n"
                                            "  worker:\n    slurm: [--constraint=is-n3]\n";
  std::vector<std::string> two = job("says that it waits", "--time=5");
  two.push_back("--config=" + (other.path() / "c.yaml").string());
  submit(two);
  lp_until("list", " running ");
  const std::string run = seen_from_elsewhere(other);
  const Ended status = lp("status " + run);
  EXPECT_TRUE(has(status.output, ": on n2")) << status.output;
  EXPECT_TRUE(has(status.output, "worker/1  running")) << status.output;
  EXPECT_TRUE(has(lp("top " + run + " --once --interval=0.1").output, " n3 "));
  EXPECT_TRUE(has(lp("logs " + run + " worker/1").output, "waiting"));
  const Ended stop = lp("stop " + run + " --reason=enough");
  EXPECT_EQ(stop.code, 0) << stop.output;
  EXPECT_TRUE(has(stop.output, ": job 1 ended as FAILED")) << stop.output;
  EXPECT_TRUE(has(lp("status last").output, "enough")) << lp("status last").output;
}

TEST_F(LpSlurmTest, ASecondTerminalSeesAndStopsARunningJob) {
  submit(job("says that it waits"));
  lp_until("list", " running ");
  OnTerminal watch = on_terminal({"status", "last", "--watch"});
  ASSERT_TRUE(watch.read_until(": running")) << watch.shown();
  OnTerminal logs = on_terminal({"logs", "last", "-f"});
  ASSERT_TRUE(logs.read_until("waiting")) << logs.shown();
  OnTerminal top = on_terminal({"top", "last", "--interval=0.2"});
  ASSERT_TRUE(top.read_until("P99")) << top.shown();
  ASSERT_TRUE(top.read_until(" n2 ")) << top.shown();
  OnTerminal stop = on_terminal({"stop", "last", "--reason=enough"});
  EXPECT_EQ(stop.wait(), 0) << stop.shown();
  EXPECT_TRUE(has(stop.shown(), ": it was stopped by ")) << stop.shown();
  EXPECT_EQ(watch.wait(), 1) << watch.shown();
  EXPECT_TRUE(has(watch.shown(), ": stopped")) << watch.shown();
  EXPECT_EQ(logs.wait(), 0) << logs.shown();
  EXPECT_EQ(top.wait(), 0) << top.shown();
  EXPECT_TRUE(has(lp("logs last worker/1").output, "waiting"));  // also after the job
}

}  // namespace
}  // namespace lp::test
