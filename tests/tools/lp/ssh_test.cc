// lp on another host than a run's launcher: it connects by a real ssh.

#include <cstdlib>
#include <fstream>

#include "tests/launchers/remote/ssh_hosts.h"
#include "tests/tools/lp/lp_fixture.h"
#include "tests/tools/lp/ui/run_for_test.h"
#include "tools/lp/ui/live_view.h"
#include "tools/lp/ui/log_view.h"

namespace lp::test {
namespace {

class LpSshTest : public LpTest {
 protected:
  // From now on, `ssh` is one that knows h1, as it would be for a person with this configuration.
  LpSshTest() {
    std::ofstream(ssh_) << "#!/bin/sh\nexec /usr/bin/ssh -F " << (hosts_.directory() / "ssh_config").string()
                        << " \"$@\"\n";
    std::filesystem::permissions(ssh_, std::filesystem::perms::owner_all);
    setenv("PATH", (ssh_.parent_path().string() + ":" + path_).c_str(), 1);
  }
  ~LpSshTest() override { setenv("PATH", path_.c_str(), 1); }

  // A host's view of the newest run whose launcher is on `host`: the files that the launch left when it began.
  std::string seen_from_elsewhere(const std::string& host) const {
    const std::filesystem::path directory = std::filesystem::directory_iterator(runs())->path();
    std::filesystem::copy_file(directory / "plan.json", elsewhere_.path() / "plan.json");
    std::string record = contents(directory / "run.json");
    const std::string field = "\"host\":\"";
    const std::size_t begin = record.find(field) + field.size();
    record.replace(begin, record.find('"', begin) - begin, host);
    std::ofstream(elsewhere_.path() / "run.json") << record;
    return elsewhere_.path().string() + "/";
  }

 private:
  const std::string path_ = std::getenv("PATH");
  const Directory elsewhere_;
  const SshHosts hosts_;
  const std::filesystem::path ssh_ = hosts_.directory() / "ssh";
};

TEST_F(LpSshTest, ARunIsSeenAndStoppedFromAnotherHost) {
  Subprocess program(waiting());
  ASSERT_TRUE(program.read_until("waiting"));
  wait_until_running();
  const std::string run = seen_from_elsewhere("h1");
  const Ended status = lp("status " + run);
  EXPECT_TRUE(has(status.output, ": on h1")) << status.output;
  EXPECT_TRUE(has(status.output, "worker/1  running")) << status.output;
  EXPECT_TRUE(has(lp("top " + run + " --once --interval=0.1").output, "worker/1"));
  EXPECT_EQ(lp("logs " + run + " worker/1").output, lp("logs last worker/1").output);
  EXPECT_TRUE(has(lp("logs " + run + " worker/1").output, "waiting"));
  OnTerminal logs = on_terminal({"logs", run, "-f"});
  ASSERT_TRUE(logs.read_until("waiting")) << logs.shown();
  const Ended restart = lp("restart " + run + " worker/1");
  EXPECT_EQ(restart.code, 0) << restart.output;
  const Ended stop = lp("stop " + run + " --reason=enough");
  EXPECT_EQ(stop.code, 0) << stop.output;
  EXPECT_TRUE(has(stop.output, "it has ended; its result is on h1")) << stop.output;
  EXPECT_EQ(program.wait().code, RunResult::kStopped) << program.err();
  EXPECT_EQ(logs.wait(), 0) << logs.shown();
  EXPECT_TRUE(has(lp("status last").output, "enough")) << lp("status last").output;
  const Ended gone = lp("top " + run + " --once");
  EXPECT_EQ(gone.code, 4) << gone.output;
  EXPECT_TRUE(has(gone.output, "no running program can be reached through the run directory ")) << gone.output;
}

TEST_F(LpSshTest, ThePageShowsARunFromAnotherHost) {
  Subprocess program(waiting());
  ASSERT_TRUE(program.read_until("waiting"));
  wait_until_running();
  const tool::RunLocation run{.name = "elsewhere", .directory = seen_from_elsewhere("h1")};
  KeptLines live("rates");
  show_live(run, live);
  EXPECT_EQ(live.at("trouble").text(), "");
  EXPECT_EQ(live.at("rates").find("nodes")->items().size(), 3U);
  EXPECT_EQ(live.at("events").items().at(0).find("kind")->text(), "starting");
  KeptLines logs("lines");
  show_logs(run, {.nodes = {"worker/1"}}, logs);
  ASSERT_EQ(logs.at("lines").items().size(), 1U) << logs.at("trouble").text();
  EXPECT_EQ(logs.at("lines").items()[0].items().at(1).text(), "waiting");
  EXPECT_EQ(lp("stop last").code, 0);
  program.wait();
}

TEST_F(LpSshTest, AHostThatSshDoesNotReachIsSaid) {
  Subprocess program(waiting());
  ASSERT_TRUE(program.read_until("waiting"));
  wait_until_running();
  const Ended stop = lp("stop " + seen_from_elsewhere("h4"));  // it is known by another key than it has
  EXPECT_EQ(stop.code, 4) << stop.output;
  EXPECT_TRUE(has(stop.output, "Host key verification failed")) << stop.output;
}

}  // namespace
}  // namespace lp::test
