// Programs as jobs of a real Slurm: the submitted job, how it ends, and the failure of a node.

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "launchers/engines/slurm/job.h"
#include "launchers/os/spawn.h"
#include "tests/launchers/engines/slurm/slurm_cluster.h"
#include "tests/launchers/main_fixture.h"
#include "tests/launchers/watched.h"

namespace lp::test {
namespace {

class SlurmTest : public MainTest {
 protected:
  explicit SlurmTest(int nodes = 3) : cluster_(nodes) {}

  std::vector<std::string> in_job(std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"--launch=slurm", "--slurm=--nodes=3,--time=5", "--grace=2"});
    return arguments(std::move(flags));
  }

  // The processes of the first run on a node.
  std::vector<int> processes_on(const std::string& node) const { return cluster_.own(marked("run1", node)); }

  std::vector<int> all_processes() const {
    std::vector<int> all;
    for (const std::string node : {"n1", "n2", "n3"}) {
      const std::vector<int> here = processes_on(node);
      all.insert(all.end(), here.begin(), here.end());
    }
    return all;
  }

  SlurmCluster cluster_;
};

TEST_F(SlurmTest, AProgramRunsInAJobAsItDoesHere) {
  Subprocess here(arguments({with_processes(), "--json", "--workers=6"}));
  ASSERT_EQ(here.wait().code, 0) << here.err();
  Subprocess there(in_job({"--json", configuration("workers: 6\ngroups:\n  worker:\n    cpus: 1\n")}));
  ASSERT_EQ(there.wait().code, 0) << there.err();
  EXPECT_TRUE(has(there.last_line(), "\"total\":30")) << there.last_line();
  EXPECT_TRUE(has(there.last_line(), "\"launch\":\"slurm\"")) << there.last_line();
  EXPECT_EQ(here.last_line().substr(0, here.last_line().find("launch")),
            there.last_line().substr(0, there.last_line().find("launch")));
}

TEST_F(SlurmTest, ADefectiveProgramFailsItsJobAndSaysWhy) {
  Subprocess program(in_job({"--mode=throws"}));
  EXPECT_EQ(program.wait().code, 1);
  EXPECT_TRUE(has(program.err(), "worker/1: std::runtime_error: no data here")) << program.err();
}

TEST_F(SlurmTest, TheScriptIsThatOfAPersonAndSlurmTakesIt) {
  const std::string file = configuration("workers: 3\ngroups:\n  worker:\n    cpus: 2\n    memory: 100M\n");
  Subprocess program(in_job({"--render", "--mode=it's done", file}));
  ASSERT_EQ(program.wait().code, 0) << program.err();
  const std::string run = (directory_ / "run1").string();
  std::string expected = "#!/bin/bash\n# The run run1 of lp: 4 nodes in 4 processes.\n#SBATCH --job-name=counting\n";
  expected += "#SBATCH --output=" + run + "/job.out\n#SBATCH --error=" + run + "/job.err\n#SBATCH --open-mode=append\n";
  expected +=
      "#SBATCH --signal=B:USR2@60\n#SBATCH --no-requeue\n#SBATCH --no-kill\n#SBATCH --ntasks=4\n#SBATCH "
      "--cpus-per-task=2\n#SBATCH "
      "--mem-per-cpu=50M\n";
  expected +=
      "#SBATCH --nodes=3\n#SBATCH --time=5\n\nexec \\\n  " + std::filesystem::read_symlink("/proc/self/exe").string();
  expected +=
      " \\\n  program \\\n  --launch=slurm \\\n  --grace=2 \\\n  '--mode=it'\\''s done' \\\n  --directory=" + run;
  expected +=
      " \\\n  --config=- <<'END_OF_CONFIGURATION'\n" + contents(directory_ / "c.yaml") + "END_OF_CONFIGURATION\n";
  EXPECT_EQ(program.out(), expected);

  std::ofstream(directory_ / "job.sh") << program.out();
  EXPECT_EQ(command("bash -n " + (directory_ / "job.sh").string()).output, "");
  const Ended tested = command("sbatch --test-only " + (directory_ / "job.sh").string());
  EXPECT_EQ(tested.code, 0) << tested.output;
}

// Groups that need hosts of different kinds: the counter needs twice as much memory as the workers.
std::string two_kinds() {
  return "workers: 3\ngroups:\n  counter:\n    memory: 200M\n    slurm: [--constraint=is-n2]\n"
         "  worker:\n    memory: 100M\n    slurm: [\"--constraint=is-n1|is-n3\", --nodes=2, --time=4]\n";
}

TEST_F(SlurmTest, AJobHasAComponentForEachKindOfHost) {
  Subprocess program(arguments({"--launch=slurm", "--slurm=--time=5", "--render", configuration(two_kinds())}));
  ASSERT_EQ(program.wait().code, 0) << program.err();
  const std::string script = program.out();
  EXPECT_TRUE(has(script,
                  "#SBATCH --signal=B:USR2@60\n# counter\n#SBATCH --no-requeue\n#SBATCH --no-kill\n#SBATCH --ntasks=1\n"
                  "#SBATCH --cpus-per-task=1\n#SBATCH --mem-per-cpu=200M\n#SBATCH --time=5\n"
                  "#SBATCH --constraint=is-n2\n\n#SBATCH hetjob\n# worker\n#SBATCH --no-requeue\n#SBATCH --no-kill\n"
                  "#SBATCH --ntasks=3\n#SBATCH --cpus-per-task=1\n#SBATCH --mem-per-cpu=100M\n#SBATCH --time=5\n"
                  "#SBATCH '--constraint=is-n1|is-n3'\n#SBATCH --nodes=2\n#SBATCH --time=4\n\nexec \\\n"))
      << script;
  std::ofstream(directory_ / "job.sh") << script;
  EXPECT_EQ(command("bash -n " + (directory_ / "job.sh").string()).output, "");
  const Ended tested = command("sbatch --test-only " + (directory_ / "job.sh").string());
  EXPECT_EQ(tested.code, 0) << tested.output;
}

TEST_F(SlurmTest, AProgramRunsInAJobOfTwoComponents) {
  Subprocess program(arguments({"--launch=slurm", "--slurm=--time=5", "--grace=2", "--json",
                                "--mode=says that it waits", configuration(two_kinds())}));
  ASSERT_TRUE(program.read_until("waiting"));
  EXPECT_GE(processes_on("n1").size() + processes_on("n3").size(), 3u);
  EXPECT_GE(processes_on("n2").size(), 1u);
  const std::string status = contents(directory_ / "run1" / "status.json");
  EXPECT_TRUE(has(status, "\"host\":\"n2\"")) << status;
  const auto processes = watch(all_processes());
  ASSERT_EQ(command("scancel --batch --signal=TERM 1").code, 0);
  EXPECT_NE(program.wait().code, 0);
  EXPECT_EQ(command("squeue -h").output, "");
  expect_end_within(std::chrono::seconds(10), processes);
}

// Three replicas with state and a trainer, in as many slots. Without n3 there is no slot for the replica that was
// there.
class SlurmReplicasLong : public SlurmTest {
 protected:
  std::vector<std::string> replicas_in_job(const std::string& members, std::vector<std::string> flags = {}) {
    flags.insert(flags.end(), {"--launch=slurm", "--slurm=--nodes=3,--ntasks=4,--time=5,--no-kill", "--grace=2",
                               "--json", "--program=replicated", "--workers=1..3", "--steps=60", "--mode=one is killed",
                               configuration("members: " + members + "\ngroups: {trainer: {hosts: [n1]}}\n")});
    return arguments(std::move(flags));
  }
  void expect_result_of_a_run_without_failures(const Subprocess& there) {
    Subprocess here(arguments({with_processes(), "--json", "--program=replicated", "--workers=3", "--steps=60"}));
    ASSERT_EQ(here.wait().code, 0) << here.err();
    EXPECT_EQ(here.last_line().substr(0, here.last_line().find("launch")),
              there.last_line().substr(0, there.last_line().find("launch")));
  }
};

TEST_F(SlurmReplicasLong, MembersWithStateGoOnFromACutWithoutThatOfAHostThatIsLost) {
  Subprocess program(replicas_in_job("[2]"));
  ASSERT_TRUE(program.read_until("there: 0 1 2\n"));
  ASSERT_TRUE(program.read_until("waiting at step 20\n"));
  wait_for_cut(20);
  cluster_.kill_host("n3");
  EXPECT_TRUE(program.read_until("replica/2: was lost with its host n3: "));
  EXPECT_EQ(program.wait().code, 0) << program.err();
  for (const char* text : {"from the checkpoint of step 20\n", "replica/2: has no host: ",
                           "replica/1 | loaded step 20\n", "there: 0 1\n", "replica/0: was killed by signal 9"}) {
    EXPECT_TRUE(has(program.err(), text)) << text << "\n" << program.err();
  }
  expect_result_of_a_run_without_failures(program);
}

TEST_F(SlurmReplicasLong, MembersWithStateComeWhenTheirJobBeginsAgain) {
  Subprocess program(replicas_in_job("[2, 3]", {"--requeue"}));
  ASSERT_TRUE(program.read_until("waiting at step 20\n"));
  wait_for_cut(20);
  cluster_.kill_host("n3");
  ASSERT_TRUE(program.read_until("waiting at step 40\n"));
  wait_for_cut(40);
  cluster_.start_slurmd("n3");
  ASSERT_EQ(command("scontrol requeue 1").code, 0);
  EXPECT_EQ(program.wait().code, 0) << program.err();
  for (const char* text : {"is PENDING", "replica/1 | loaded step 40\n", "replica/0: was killed by signal 9"}) {
    EXPECT_TRUE(has(program.err(), text)) << text << "\n" << program.err();
  }
  EXPECT_FALSE(has(program.err(), "replica/2 | loaded step 40\n")) << program.err();
  EXPECT_TRUE(has(program.err().substr(program.err().find("is PENDING")), "there: 0 1 2\n")) << program.err();
  expect_result_of_a_run_without_failures(program);
}

// Programs whose file is gone when they start, in an interactive allocation of nodes that have a cache each.
class SlurmCopyTest : public SlurmTest {
 protected:
  SlurmCopyTest() {
    const std::filesystem::path prolog = directory_ / "prolog";
    std::ofstream(prolog) << "#!/bin/sh\necho \"export XDG_CACHE_HOME=" << directory_.string()
                          << "/$SLURMD_NODENAME\"\n";
    std::filesystem::permissions(prolog, std::filesystem::perms::owner_all);
    setenv("SLURM_TASK_PROLOG", prolog.c_str(), 1);
  }
  ~SlurmCopyTest() override { unsetenv("SLURM_TASK_PROLOG"); }

  void expect_one_copy_on_each_node_of(std::vector<std::string> allocation, std::vector<std::string> flags) {
    const std::string copy = (directory_ / "copy").string();
    std::filesystem::copy_file("/proc/self/exe", copy);
    std::string line = "exec 9<" + copy + "; rm " + copy + "; exec /proc/self/fd/9";
    flags.insert(flags.end(), {"--launch=slurm", "--workers=4", "--json"});
    for (const std::string& word : arguments(flags)) line += " " + word;
    allocation.insert(allocation.end(), {"sh", "-c", line});
    Subprocess program(allocation, "/usr/bin/salloc");
    EXPECT_EQ(program.wait().code, 0) << program.err();
    EXPECT_TRUE(has(program.last_line(), "\"total\":20")) << program.out() << program.err();
    for (const std::string node : {"n1", "n2", "n3"}) {
      const std::string cache = (directory_ / node / "lp").string();
      EXPECT_EQ(command("cd " + cache + " && find . -type f | wc -l").output, "1\n") << node;
      EXPECT_EQ(command("cd " + cache + " && sha256sum */* | awk '{print $1 \"/\"}' | xargs ls | wc -l").output, "1\n");
    }
  }
};

// All nodes ask for it, and then only the one that has lost it.
TEST_F(SlurmCopyTest, AProgramIsCopiedToTheNodesThatHaveNone) {
  expect_one_copy_on_each_node_of({"--quiet", "--nodes=3", "--time=5"}, {});
  std::filesystem::remove_all(directory_ / "n2");
  expect_one_copy_on_each_node_of({"--quiet", "--nodes=3", "--time=5"}, {});
}

TEST_F(SlurmCopyTest, AProgramIsCopiedToTheNodesOfASecondComponent) {
  const std::vector<std::string> two{"--quiet",   "--time=5", "--constraint=is-n2", ":", "--constraint=is-n1|is-n3",
                                     "--nodes=2", "--time=4"};
  const std::string file = configuration(two_kinds());
  expect_one_copy_on_each_node_of(two, {file});
  std::filesystem::remove_all(directory_ / "n3");
  expect_one_copy_on_each_node_of(two, {file});
}

TEST_F(SlurmTest, AnElasticGroupRunsInFewerTasks) {
  Subprocess program(arguments({"--launch=slurm", "--slurm=--ntasks=3,--time=5", "--json", "--workers=1..6"}));
  EXPECT_EQ(program.wait().code, 0) << program.err();
  EXPECT_TRUE(has(program.err(), "group worker starts with 2 of 1..6 members: ")) << program.err();
  EXPECT_TRUE(has(program.out(), "\"total\":10")) << program.out();
}

TEST_F(SlurmTest, WhatSlurmRefusesIsSaidBeforeAnythingStarts) {
  Subprocess program(arguments({"--launch=slurm", "--slurm=--partition=none"}));
  EXPECT_EQ(program.wait().code, 2);
  EXPECT_TRUE(has(program.err(), "sbatch: ")) << program.err();
  EXPECT_TRUE(has(program.err(), "invalid partition specified: none")) << program.err();
}

TEST_F(SlurmTest, GpusThatTheClusterDoesNotHaveAreRefused) {
  Subprocess program(in_job({configuration("groups: {worker: {gpus: 1}}\n")}));
  EXPECT_EQ(program.wait().code, 2);
  EXPECT_TRUE(has(program.err(), "Invalid generic resource")) << program.err();
  EXPECT_TRUE(has(program.err(), "the program needs gpus; `sinfo -o '%N %G'` shows the nodes that have some"))
      << program.err();
}

// As when the disk fills up at that moment: nobody could follow or stop the job.
TEST_F(SlurmTest, AJobWhoseNumberCannotBeKeptIsTakenBack) {
  std::filesystem::create_directories(directory_ / "run1" / "job" / "in the way");
  Subprocess program(in_job({"--mode=says that it waits"}));
  EXPECT_EQ(program.wait().code, 2);
  EXPECT_TRUE(has(program.err(), "job 1 is cancelled")) << program.err();
  EXPECT_TRUE(has(program.err(), (directory_ / "run1" / "job").string() + ": ")) << program.err();
  while (!launch::poll_job("1").ended()) {  // as COMPLETING
  }
  EXPECT_TRUE(all_processes().empty());
}

TEST_F(SlurmTest, NodesOfAHostThatGoesDownStartAgainOnAnother) {
  Subprocess program(in_job({"--mode=says that it waits", "--workers=3", "--restart",
                             configuration("groups:\n  counter:\n    hosts: [n1]\n  worker:\n    hosts: [n2, n3]\n")}));
  ASSERT_TRUE(program.read_until("waiting"));
  EXPECT_GE(processes_on("n3").size(), 3u);
  const std::size_t before = processes_on("n2").size();
  ASSERT_EQ(command("scontrol update nodename=n3 state=down reason=test").code, 0);
  // Slurm may kill the node before its agent, or the other way round. Then the causes differ.
  EXPECT_TRUE(program.read_until("restart 1 of 2")) << program.err();
  for (const Time end = after(std::chrono::seconds(30)); processes_on("n2").size() <= before && !passed(end);) {
  }
  EXPECT_GT(processes_on("n2").size(), before);
  const auto processes = watch(all_processes());
  program.kill(SIGINT);
  EXPECT_NE(program.wait().code, 0);
  EXPECT_TRUE(has(program.err(), "ended as CANCELLED")) << program.err();
  expect_end_within(std::chrono::seconds(10), processes);
}

TEST_F(SlurmTest, AHostThatDiesTakesNoOtherAlong) {
  Subprocess program(in_job({"--mode=says that it waits", "--workers=3", "--restart",
                             configuration("groups:\n  counter:\n    hosts: [n1]\n  worker:\n    hosts: [n2, n3]\n")}));
  ASSERT_TRUE(program.read_until("waiting"));
  const auto others = watch(processes_on("n2"));
  EXPECT_GE(others.size(), 2u);
  cluster_.kill_host("n3");
  EXPECT_TRUE(program.read_until("was lost with its host n3")) << program.err();
  EXPECT_TRUE(program.read_until("restart 1 of 2"));
  for (const auto& process : others) EXPECT_FALSE(process->ends_within(Duration{})) << command_line_of(process->pid());
  program.kill(SIGINT);
  EXPECT_NE(program.wait().code, 0);
  EXPECT_TRUE(has(program.err(), "ended as CANCELLED")) << program.err();
  expect_end_within(std::chrono::seconds(10), others);
}

// Slurm leaves the job running, and no process is left that would end it.
TEST_F(SlurmTest, AJobWhoseFirstHostDiesEnds) {
  Subprocess program(in_job({"--mode=says that it waits", "--workers=5", "--restart"}));
  ASSERT_TRUE(program.read_until("waiting"));
  const auto processes = watch(all_processes());
  cluster_.kill_host("n1");
  EXPECT_NE(program.wait(std::chrono::seconds(90)).code, 0);
  EXPECT_TRUE(has(program.err(), "ended as CANCELLED (its first node, n1, has failed)")) << program.err();
  expect_end_within(std::chrono::seconds(20), processes);
}

TEST_F(SlurmTest, AJobThatMayBeginAgainNeedsADirectory) {
  Subprocess program({"program", "--launch=slurm", "--requeue"});
  EXPECT_EQ(program.wait().code, 2);
  EXPECT_TRUE(has(program.err(), "--requeue needs --directory")) << program.err();
}

TEST_F(SlurmTest, AJobWhoseTimeIsOverBeginsAgainFromACutThatItTookThen) {
  Subprocess program(arguments({"--launch=slurm", "--slurm=--nodes=2,--time=1", "--time-margin=30", "--grace=10",
                                "--requeue", "--program=saving", "--mode=ends when loaded", "--steps=3"}));
  EXPECT_EQ(program.wait().code, 0) << program.err();
  for (const char* text :
       {"its time limit is near: it stops after its next checkpoint",
        "its time limit is near; its checkpoint is that of step ", "is PENDING", "saver/0 | loaded step "}) {
    EXPECT_TRUE(has(program.err(), text)) << text << "\n" << program.err();
  }
  EXPECT_TRUE(has(contents(directory_ / "run1" / "result.json"), "\"success\":true"));
}

TEST_F(SlurmTest, AJobWhoseFirstHostDiesBeginsAgainFromItsLastCut) {
  Subprocess program(arguments({"--launch=slurm", "--slurm=--nodes=2,--time=5", "--grace=2", "--requeue",
                                "--program=saving", "--mode=ends when loaded", "--steps=3"}));
  ASSERT_TRUE(program.read_until("driver  | step 50\n"));
  const auto processes = watch(all_processes());
  cluster_.kill_host("n1");
  EXPECT_EQ(program.wait(std::chrono::seconds(90)).code, 0) << program.err();
  EXPECT_TRUE(has(program.err(), "saver/0 | loaded step ")) << program.err();
  expect_end_within(std::chrono::seconds(20), processes);
}

// Jobs whose one remaining process watches them, while no command of Slurm is answered. Four hosts.
class SlurmctldLong : public SlurmTest {
 protected:
  SlurmctldLong() : SlurmTest(4) {}

  // The process with the text in its command line; the shell that starts it has the text, too.
  int process_on(const std::string& node, const std::string& text) const {
    for (const int process : cluster_.processes_on(node)) {
      const bool is_shell = contents("/proc/" + std::to_string(process) + "/comm") == "sh\n";
      if (!is_shell && has(command_line_of(process), text)) return process;
    }
    return -1;
  }
  // Waits until the watcher on the node has looked at the job `count` times, between two sleeps.
  void wait_for_looks(const std::string& node, int count) const {
    Event never;
    int sleeper = -1;
    for (const Time end = after(std::chrono::seconds(90)); count >= 0;) {
      const int next = process_on(node, "sleep 5");
      if (next > 0 && std::exchange(sleeper, next) != next) --count;
      never.wait(after(std::chrono::milliseconds(50)));
      ASSERT_LT(now(), end) << "nobody watches on " << node;
    }
  }
};

TEST_F(SlurmctldLong, AJobThatLivesIsNotEndedByWhoIsCutOffFromIt) {
  Subprocess program(in_job({"--mode=says that it waits", "--workers=3", "--restart",
                             configuration("groups:\n  counter:\n    hosts: [n1]\n  worker:\n    hosts: [n2, n3]\n")}));
  ASSERT_TRUE(program.read_until("waiting"));
  const auto others = watch(processes_on("n2"));
  const auto cut_off = watch(processes_on("n3"));
  const int dialer = process_on("n3", "--lp-dial=");
  ASSERT_GT(dialer, 0);
  kill(dialer, SIGSTOP);
  EXPECT_TRUE(program.read_until("was lost with its host n3: it has not answered for 2 s"));
  expect_end_within(std::chrono::seconds(10), cut_off);
  cluster_.stop_slurmctld();
  kill(dialer, SIGCONT);
  wait_for_looks("n3", 1);
  cluster_.continue_slurmctld();
  wait_for_looks("n3", 1);
  EXPECT_EQ(launch::poll_job("1").name, "RUNNING");
  for (const auto& process : others) EXPECT_FALSE(process->ends_within(Duration{})) << command_line_of(process->pid());
  program.kill(SIGINT);
  EXPECT_NE(program.wait().code, 0);
  EXPECT_TRUE(has(program.err(), "ended as CANCELLED")) << program.err();
}

TEST_F(SlurmctldLong, AJobWhoseFirstHostDiesMeanwhileEndsWhenItIsBack) {
  Subprocess program(in_job({"--mode=says that it waits", "--workers=5", "--restart"}));
  ASSERT_TRUE(program.read_until("waiting"));
  const auto processes = watch(all_processes());
  cluster_.end_slurmctld();
  cluster_.kill_host("n1");
  wait_for_looks("n2", 1);
  cluster_.start_slurmctld();
  EXPECT_NE(program.wait(std::chrono::seconds(90)).code, 0);
  EXPECT_TRUE(has(program.err(), "ended as CANCELLED (its first node, n1, has failed)")) << program.err();
  expect_end_within(std::chrono::seconds(20), processes);
}

TEST_F(SlurmctldLong, AJobWhoseFirstHostDiesMeanwhileBeginsAgainWhenItIsBack) {
  Subprocess program(arguments({"--launch=slurm", "--slurm=--nodes=2,--time=5,--no-kill", "--grace=2", "--requeue",
                                "--program=saving", "--mode=ends when loaded", "--steps=3"}));
  ASSERT_TRUE(program.read_until("driver  | step 50\n"));
  const auto processes = watch(all_processes());
  cluster_.end_slurmctld();
  cluster_.kill_host("n1");
  wait_for_looks("n2", 1);
  cluster_.start_slurmctld();
  EXPECT_EQ(program.wait(std::chrono::seconds(90)).code, 0) << program.err();
  EXPECT_TRUE(has(program.err(), "saver/0 | loaded step ")) << program.err();
  expect_end_within(std::chrono::seconds(20), processes);
}

TEST_F(SlurmctldLong, AJobWhoseTimeIsOverMeanwhileBeginsAgainWhenItIsBack) {
  Subprocess program(arguments({"--launch=slurm", "--slurm=--nodes=2,--time=5", "--grace=2", "--requeue",
                                "--program=saving", "--mode=ends when loaded", "--steps=3"}));
  ASSERT_TRUE(program.read_until("driver  | step 50\n"));
  cluster_.end_slurmctld();
  const int launcher = process_on("n1", "--launch=slurm");
  ASSERT_GT(launcher, 0);
  kill(launcher, SIGUSR2);  // as Slurm does before the time limit
  Event never;
  for (const Time end = after(std::chrono::seconds(60)); process_on("n1", "requeue") < 0;) {
    never.wait(after(std::chrono::milliseconds(20)));
    ASSERT_LT(now(), end) << "it does not ask";
  }
  cluster_.start_slurmctld();
  EXPECT_EQ(program.wait(std::chrono::seconds(90)).code, 0) << program.err();
  EXPECT_TRUE(has(program.err(), "saver/0 | loaded step ")) << program.err();
}

// Slurm has lost n2, too, where the watcher lives on and does not see the job on its own first host.
TEST_F(SlurmctldLong, AJobThatHasBegunAgainIsLeftAloneByWhoWatchedItsFirstStart) {
  Subprocess program(arguments({"--launch=slurm", "--slurm=--nodes=2,--time=5,--no-kill", "--grace=2", "--requeue",
                                "--mode=says that it waits", "--workers=3"}));
  ASSERT_TRUE(program.read_until("waiting"));
  cluster_.kill_host("n1");
  cluster_.kill_slurmd("n2");
  wait_for_looks("n2", 0);
  const auto watchers = watch(cluster_.processes_on("n2"));
  ASSERT_TRUE(program.read_until("is PENDING (BeginTime)"));
  ASSERT_TRUE(program.read_until("waiting", program.err().find("(BeginTime)")));
  expect_end_within(std::chrono::seconds(15), watchers);  // as long as three looks
  EXPECT_EQ(launch::poll_job("1").name, "RUNNING");
  program.kill(SIGINT);
  EXPECT_NE(program.wait().code, 0);
  EXPECT_TRUE(has(program.err(), "ended as CANCELLED")) << program.err();
}

// Its slurmd has died, so the job begins again elsewhere; but its first start lives, and must end before.
TEST_F(SlurmTest, AStartThatSlurmHasLostLeavesTheDirectoryToTheNext) {
  Subprocess program(arguments({"--launch=slurm", "--slurm=--nodes=2,--time=5", "--grace=2", "--requeue",
                                "--program=saving", "--mode=ends when loaded", "--steps=3"}));
  ASSERT_TRUE(program.read_until("driver  | step 50\n"));
  const auto processes = watch(cluster_.processes_on("n1"));
  cluster_.kill_slurmd("n1");
  EXPECT_EQ(program.wait(std::chrono::seconds(90)).code, 0) << program.err();
  EXPECT_TRUE(has(program.err(), "saver/0 | loaded step ")) << program.err();
  expect_end_within(std::chrono::seconds(20), processes);
}

TEST_F(SlurmTest, AJobThatIsCancelledLeavesNothing) {
  Subprocess program(in_job({"--mode=leaves a daemon", "--workers=3"}));
  ASSERT_TRUE(program.read_until("waiting"));
  const auto processes = watch(all_processes());
  EXPECT_GE(processes.size(), 3u * 2 + 4);
  ASSERT_EQ(command("scancel --name=counting").code, 0);
  EXPECT_NE(program.wait().code, 0);
  EXPECT_TRUE(has(program.err(), "ended as CANCELLED")) << program.err();
  EXPECT_FALSE(has(program.err(), "was killed by signal 15")) << program.err();
  expect_end_within(std::chrono::seconds(10), processes);
}

TEST_F(SlurmTest, AWarningOfSlurmIsNoJobAndItsOutputStaysInThePrivateDirectory) {
  Subprocess program(arguments({"--launch=slurm", "--slurm=--nodes=3,--time=5", "--workers=1"}));  // 2 tasks on 3 nodes
  EXPECT_EQ(program.wait().code, 0) << program.err();
  EXPECT_TRUE(has(program.err(), "Warning: can't run 2 processes on 3 nodes")) << program.err();
  EXPECT_EQ(std::filesystem::status(directory_ / "run1").permissions(), std::filesystem::perms::owner_all);
  Subprocess elsewhere(arguments({"--launch=slurm", "--slurm=--output=x"}));
  EXPECT_EQ(elsewhere.wait().code, 2);
  EXPECT_TRUE(has(elsewhere.err(), "--slurm=--output=x: the output of a job goes to the run directory"))
      << elsewhere.err();
  Subprocess group(arguments({"--launch=slurm", configuration("groups: {worker: {slurm: [-oelsewhere]}}\n")}));
  EXPECT_EQ(group.wait().code, 2);
  EXPECT_TRUE(has(group.err(), "-oelsewhere: the output of a job goes to the run directory")) << group.err();
}

}  // namespace
}  // namespace lp::test
