// Programs whose groups have several engines: processes here, a real ssh and a real Slurm in one run.

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/launchers/engines/slurm/slurm_cluster.h"
#include "tests/launchers/main_fixture.h"
#include "tests/launchers/remote/ssh_hosts.h"
#include "tests/launchers/watched.h"

namespace lp::test {
namespace {

const char* const kWorkersInAJob = "groups: {worker: {launcher: slurm}}\n";

class MixedTest : public MainTest {
 protected:
  // Nodes without another place are processes here.
  std::vector<std::string> mixed(const std::string& yaml, std::vector<std::string> flags = {}) {
    flags.insert(flags.begin(), {with_processes(), "--grace=2", configuration(yaml)});
    return arguments(std::move(flags));
  }
  static std::string in_time() { return "--slurm=--time=5"; }

  void expect_no_job_soon() const {
    Event never;
    std::string jobs;
    for (const Time end = after(std::chrono::seconds(20)); now() < end;) {
      if (jobs = command("squeue -h").output; jobs.empty()) return;
      never.wait(after(std::chrono::milliseconds(50)));
    }
    ADD_FAILURE() << jobs;
  }

  // The processes of this program.
  static std::vector<int> processes_of(const std::string& program) {
    std::vector<int> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const int process = std::atoi(entry.path().filename().c_str());
      if (process > 0 && contents(entry.path() / "comm") == program + "\n") found.push_back(process);
    }
    return found;
  }

  // The processes of the first run, on a host or on all.
  std::vector<int> processes_of_run(const std::string& host = {}) const {
    const std::string record = contents(directory_ / "run1" / "run.json");
    const std::size_t begin = record.find("\"run\":\"") + 7;
    return marked(record.substr(begin, record.find('"', begin) - begin), host);
  }

  SlurmCluster cluster_{2};
  SshHosts hosts_;
};

TEST_F(MixedTest, AProgramRunsOnThisHostAndInAJobAsItDoesHere) {
  Subprocess here(arguments({with_processes(), "--json", "--workers=6"}));
  ASSERT_EQ(here.wait().code, 0) << here.err();
  Subprocess there(mixed(kWorkersInAJob, {"--json", "--workers=6", in_time()}));
  ASSERT_EQ(there.wait().code, 0) << there.err();
  EXPECT_TRUE(has(there.last_line(), "\"total\":30")) << there.last_line();
  EXPECT_TRUE(has(there.last_line(), "\"launch\":\"processes and slurm\"")) << there.last_line();
  EXPECT_EQ(here.last_line().substr(0, here.last_line().find("launch")),
            there.last_line().substr(0, there.last_line().find("launch")));
  expect_no_job_soon();
}

TEST_F(MixedTest, GroupsAreWhereTheirLaunchersAre) {
  Subprocess program(mixed("groups:\n  counter: {launcher: ssh, hosts: [h2]}\n  worker: {launcher: slurm}\n",
                           {"--mode=says that it waits", "--workers=3", SshHosts::hosts("h1,h2"), hosts_.ssh(),
                            "--slurm=--nodes=2,--time=5"}));
  ASSERT_TRUE(program.read_until("waiting"));
  const std::string status = contents(directory_ / "run1" / "status.json");
  EXPECT_TRUE(has(status, "\"host\":\"h2\"")) << status;
  EXPECT_TRUE(has(status, "\"host\":\"n1\"")) << status;
  EXPECT_TRUE(has(status, "\"host\":\"n2\"")) << status;
  EXPECT_FALSE(has(status, "\"host\":\"h1\"")) << status;
  const auto processes = watch(processes_of_run());
  EXPECT_GE(processes.size(), 4u);
  program.kill(SIGINT);
  EXPECT_EQ(program.wait().code, 130) << program.err();
  expect_no_job_soon();
  expect_end_within(std::chrono::seconds(10), processes);
}

TEST_F(MixedTest, GroupsOfThreadsAreOneProcessBesideThoseOfAJob) {
  Subprocess program(arguments({"--launch=threads", "--grace=2", "--workers=2", "--json", in_time(),
                                configuration(kWorkersInAJob), "--mode=says that it waits"}));
  ASSERT_TRUE(program.read_until("waiting"));
  EXPECT_EQ(command("squeue -h -o %T").output, "RUNNING\n");
  program.kill(SIGINT);
  EXPECT_EQ(program.wait().code, 130) << program.err();
}

TEST_F(MixedTest, NodesOfAHostThatDiesStartAgainOnAnotherOfTheJob) {
  Subprocess program(mixed(kWorkersInAJob, {"--workers=2", "--mode=says that it waits", "--restart",
                                            "--slurm=--nodes=2,--ntasks=2,--time=5"}));
  ASSERT_TRUE(program.read_until("waiting"));
  cluster_.kill_host("n2");
  EXPECT_TRUE(program.read_until("was lost with its host n2")) << program.err();
  EXPECT_TRUE(program.read_until("restart 1 of 2"));
  EXPECT_FALSE(processes_of_run("n1").empty());
  program.kill(SIGINT);
  EXPECT_EQ(program.wait().code, 130) << program.err();
}

TEST_F(MixedTest, ALauncherThatIsKilledLeavesNeitherProcessesNorAJob) {
  Subprocess program(mixed(kWorkersInAJob, {"--mode=leaves a daemon", "--workers=3", in_time()}));
  ASSERT_TRUE(program.read_until("waiting"));
  const auto processes = watch(processes_of_run());
  EXPECT_GE(processes.size(), 6u);
  program.kill(SIGKILL);
  expect_end_within(std::chrono::seconds(10), processes);
  expect_no_job_soon();
  expect_end_within(std::chrono::seconds(20), watch(cluster_.own(processes_of("salloc"))));
}

TEST_F(MixedTest, AnAllocationWhoseSallocWasKilledGoesBackWithItsLauncher) {
  Subprocess program(mixed(kWorkersInAJob, {"--mode=says that it waits", in_time()}));
  ASSERT_TRUE(program.read_until("waiting"));
  for (const int process : cluster_.own(processes_of("salloc"))) kill(process, SIGKILL);
  program.kill(SIGINT);
  EXPECT_EQ(program.wait().code, 130) << program.err();
  expect_no_job_soon();
}

TEST_F(MixedTest, ALauncherThatIsKilledWhileItWaitsForSlurmLeavesNoRequest) {
  ASSERT_EQ(command("scontrol update nodename=n[1-2] state=drain reason=test").code, 0);
  Subprocess program(mixed(kWorkersInAJob, {in_time()}));
  ASSERT_TRUE(program.read_until("salloc: Pending job allocation ")) << program.err();
  program.kill(SIGKILL);
  expect_no_job_soon();
}

TEST_F(MixedTest, WhatSlurmRefusesIsSaidBeforeAnythingStarts) {
  Subprocess program(mixed(kWorkersInAJob, {"--slurm=--partition=nowhere"}));
  EXPECT_EQ(program.wait().code, 2);
  EXPECT_TRUE(has(program.err(), "invalid partition specified: nowhere")) << program.err();
  EXPECT_TRUE(has(program.err(), "Slurm gave no allocation")) << program.err();
}

TEST_F(MixedTest, WhatIsWrongHereIsSaidBeforeSlurmIsAsked) {
  const auto refused = [&](const std::string& yaml, const std::vector<std::string>& flags, const std::string& why) {
    Subprocess program(mixed(yaml, flags));
    EXPECT_EQ(program.wait().code, 2);
    EXPECT_TRUE(has(program.err(), why)) << program.err();
    EXPECT_FALSE(has(program.err(), "salloc")) << program.err();
  };
  refused("groups: {counter: {gpus: 4096}, worker: {launcher: slurm, gpus: 8192}}\n", {},
          "gpus, but the program needs 4096 (counter: 1 x 4096)");
  refused(kWorkersInAJob, {"--path=shm"}, "--path=shm needs all nodes on one host");
  refused(kWorkersInAJob, {"--listen=nowhere"}, "cannot listen on 'nowhere'");
  refused("groups: {counter: {launcher: ssh}, worker: {launcher: slurm}}\n", {},
          "group counter has the engine ssh, which needs --hosts");
}

TEST_F(MixedTest, AHostOfAnotherLauncherIsRefusedByName) {
  Subprocess program(mixed("groups:\n  counter: {launcher: ssh}\n  worker: {launcher: processes, hosts: [h1]}\n",
                           {SshHosts::hosts("h1"), hosts_.ssh()}));
  EXPECT_EQ(program.wait().code, 2);
  EXPECT_TRUE(has(program.err(), ":3: group worker has the engine processes, but its host h1 belongs to ssh"))
      << program.err();
}

TEST_F(MixedTest, ADryRunShowsTheLauncherOfEachGroup) {
  Subprocess text(mixed(kWorkersInAJob, {"--dry-run", "--workers=2"}));
  EXPECT_EQ(text.wait().code, 0);
  EXPECT_TRUE(has(text.out(), " by slurm\n")) << text.out();
  EXPECT_TRUE(has(text.out(), " by processes\n")) << text.out();
  Subprocess json(mixed(kWorkersInAJob, {"--dry-run", "--json"}));
  EXPECT_EQ(json.wait().code, 0);
  EXPECT_TRUE(has(json.out(), "\"launcher\":\"slurm\"")) << json.out();
}

TEST_F(MixedTest, FlagsThatNeedOneLauncherForAllGroupsAreRefused) {
  for (const std::string flag : {"--submit", "--render", "--requeue", "--time-margin=5"}) {
    Subprocess program(mixed(kWorkersInAJob, {flag}));
    EXPECT_EQ(program.wait().code, 2);
    EXPECT_TRUE(has(program.err(), " has no effect with --launch=processes and slurm: it needs --launch=slurm"))
        << program.err();
    EXPECT_TRUE(has(program.err(), " for all groups")) << program.err();
  }
  Subprocess hosts(mixed(kWorkersInAJob, {SshHosts::hosts("h1")}));
  EXPECT_EQ(hosts.wait().code, 2);
  EXPECT_TRUE(has(hosts.err(), "--hosts has no effect with --launch=processes and slurm")) << hosts.err();
}

}  // namespace
}  // namespace lp::test
