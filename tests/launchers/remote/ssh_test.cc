// Programs on other hosts, by a real ssh: how they start, the cleanup when a process dies, and refused options.

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "launchers/os/shell_quote.h"
#include "launchers/os/spawn.h"
#include "launchers/remote/remote_agents.h"
#include "launchers/remote/ssh_command.h"
#include "lp/base/error.h"
#include "tests/launchers/main_fixture.h"
#include "tests/launchers/remote/ssh_hosts.h"
#include "tests/launchers/watched.h"

namespace lp::test {
namespace {

class SshTest : public MainTest {
 protected:
  // A program on h1, h2 and h3.
  std::vector<std::string> on_hosts(std::vector<std::string> flags, const std::string& names = "h1,h2,h3") {
    flags.insert(flags.begin(), {"--launch=ssh", SshHosts::hosts(names), hosts_.ssh()});
    return arguments(std::move(flags));
  }

  std::string run() const {
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
      if (!entry.is_directory()) continue;
      const std::string plan = contents(entry.path() / "status.json");
      const std::size_t begin = plan.find("\"run\":\"") + 7;
      if (begin >= 7) return plan.substr(begin, plan.find('"', begin) - begin);
    }
    return {};
  }

  // Processes of the run on a host: agent, guard, nodes.
  std::vector<int> processes_on(const std::string& host) const { return marked(run(), host); }

  std::vector<int> all_processes() const {
    std::vector<int> all;
    for (const std::string host : {"h1", "h2", "h3"}) {
      const std::vector<int> here = processes_on(host);
      all.insert(all.end(), here.begin(), here.end());
    }
    return all;
  }

  static int one_with(const std::vector<int>& processes, const std::string& text) {
    for (const int process : processes) {
      // An agent's guard has its command line, and may have a lower number.
      if (contents("/proc/" + std::to_string(process) + "/comm") == "lp-guard\n") continue;
      if (has(command_line_of(process), text)) return process;
    }
    return -1;
  }

  SshHosts hosts_;
};

TEST_F(SshTest, AProgramRunsOnItsHostsAsItDoesHere) {
  Subprocess here(arguments({with_processes(), "--json", "--workers=6"}));
  ASSERT_EQ(here.wait().code, 0) << here.err();
  Subprocess there(on_hosts({"--json", "--workers=6"}));
  ASSERT_EQ(there.wait().code, 0) << there.err();
  EXPECT_TRUE(has(there.last_line(), "\"total\":30")) << there.last_line();
  EXPECT_TRUE(has(there.last_line(), "\"launch\":\"ssh\"")) << there.last_line();
  EXPECT_EQ(here.last_line().substr(0, here.last_line().find("launch")),
            there.last_line().substr(0, there.last_line().find("launch")));
}

TEST_F(SshTest, EachHostHasItsShareAndAGroupTheHostsThatItIsGiven) {
  Subprocess program(on_hosts({"--mode=meets the others and waits", "--workers=3",
                               configuration("groups:\n  counter:\n    hosts: [h3]\n  worker:\n    hosts: [h1, h2]\n")},
                              "h1:1,h2:2,h3"));
  ASSERT_TRUE(program.read_until("waiting"));
  EXPECT_GT(one_with(processes_on("h3"), "--lp-node=counter"), 0);
  EXPECT_GT(one_with(processes_on("h1"), "--lp-node=worker/0"), 0);
  EXPECT_GT(one_with(processes_on("h2"), "--lp-node=worker/1"), 0);
  EXPECT_GT(one_with(processes_on("h2"), "--lp-node=worker/2"), 0);
  program.kill(SIGINT);
  EXPECT_EQ(program.wait().code, 130) << program.err();
  const std::string status = contents(directory_ / "run1" / "status.json");
  EXPECT_TRUE(has(status, "\"host\":\"h3\"")) << status;
}

TEST_F(SshTest, TheCauseOfTheEndNamesTheHost) {
  for (const auto& [mode, cause] : {std::pair("throws", "worker/1: std::runtime_error: no data here (on host h2)"),
                                    {"exits", "worker/1: exited with code 3 (on host h2)"}}) {
    Subprocess program(on_hosts(
        {"--mode=" + std::string(mode), "--workers=2", configuration("groups: {worker: {hosts: [h2]}}\n")}, "h1,h2:2"));
    EXPECT_NE(program.wait().code, 0);
    EXPECT_TRUE(has(program.err(), cause)) << program.err();
  }
}

TEST_F(SshTest, WhatIsWrongWithEachHostIsSaidInOneError) {
  Subprocess program(on_hosts({}, "h1,h4,no-such-host.invalid"));
  EXPECT_EQ(program.wait().code, 2);
  EXPECT_TRUE(has(program.err(), "some hosts cannot be used:\n  h4: ")) << program.err();
  EXPECT_TRUE(has(program.err(), "Host key verification failed")) << program.err();
  EXPECT_TRUE(has(program.err(), "\n  no-such-host.invalid: ")) << program.err();
  EXPECT_FALSE(has(program.err(), "h1:")) << program.err();
}

TEST_F(SshTest, HostsThatAreNoneOrStandThereTwiceAreRefused) {
  Subprocess file(arguments({"--launch=ssh", configuration("launch: {hosts: [\"h1:2\", h2, h1]}\n")}));
  EXPECT_EQ(file.wait().code, 2);
  EXPECT_TRUE(has(file.err(), "hosts: \"h1\": this host is given twice")) << file.err();
  for (const auto& [list, why] : {std::pair("h1,h1", "this host is given twice"),
                                  {"h1:0", "the number of slots must be 1 or more"},
                                  {"-oProxyCommand=x", "this is not a host name"}}) {
    Subprocess program(on_hosts({}, list));
    EXPECT_EQ(program.wait().code, 2) << list;
    EXPECT_TRUE(has(program.err(), why)) << program.err();
  }
  Subprocess none(arguments({"--launch=ssh"}));
  EXPECT_EQ(none.wait().code, 2);
  EXPECT_TRUE(has(none.err(), "--launch=ssh needs --hosts")) << none.err();
}

TEST_F(SshTest, AHostThatTheOthersDoNotReachIsRefused) {
  Subprocess program(on_hosts({}, "h1:1:10.99.0.1,h2:1:127.0.0.1"));
  EXPECT_EQ(program.wait().code, 2);
  EXPECT_TRUE(has(program.err(), "nodes of h2 listen at 127.0.0.1, where those of h1, at 10.99.0.1, cannot reach them"))
      << program.err();
}

TEST_F(SshTest, WhatNoHostHasIsRefusedWithTheSum) {
  Subprocess program(on_hosts({configuration("groups:\n  worker:\n    memory: 900T\n    hosts: [h2]\n")}));
  EXPECT_EQ(program.wait().code, 2);
  EXPECT_TRUE(has(program.err(), "worker/0 needs 0 gpus, 900T of memory, and h2 has ")) << program.err();
  Subprocess unknown(on_hosts({configuration("groups:\n  worker:\n    hosts: [h22]\n")}));
  EXPECT_EQ(unknown.wait().code, 2);
  EXPECT_TRUE(has(unknown.err(), "group worker: the run has no host \"h22\"; did you mean h2?")) << unknown.err();
}

TEST_F(SshTest, WhatNodesSaveThereComesHereAndGoesBackWhenTheyAreRestored) {
  Subprocess program(on_hosts({"--program=saving", "--steps=30", "--mode=killed once"}));
  EXPECT_EQ(program.wait().code, 0) << program.err();
  EXPECT_TRUE(has(program.err(), "loaded step ")) << program.err();
  const auto cut = directory_ / "run1" / "checkpoints" / "step-000000000030";
  EXPECT_TRUE(std::filesystem::exists(cut / "MANIFEST"));
  EXPECT_TRUE(std::filesystem::exists(cut / "saver@1.checkpoint"));
}

TEST_F(SshTest, AnAgentThatIsKilledLeavesNoFiles) {
  const std::vector<HostSpec> one{{.name = "h1"}};
  const std::string ssh = hosts_.ssh().substr(6);
  const auto agents = launch::start_agents_there(
      one,
      [&](const HostSpec& host, const std::string& line) {
        return launch::ssh_command(ssh, host.name, "export HOME=" + directory_.string() + "; " + line);
      },
      {.mark = "killed-" + directory_.filename().string()});
  EXPECT_FALSE(std::filesystem::is_empty(directory_ / ".cache/lp/runs"));
  const std::vector<int> there = marked("killed-" + directory_.filename().string(), "h1");
  const AllWatched processes = watch(there);
  int agent = -1;
  for (const int process : there) {
    if (!launch::descendants(process).empty()) agent = process;  // the other one is its guard
  }
  ASSERT_GT(agent, 0);
  kill(agent, SIGKILL);
  expect_end_within(std::chrono::seconds(5), processes);
  EXPECT_TRUE(std::filesystem::is_empty(directory_ / ".cache/lp/runs"));
}

TEST_F(SshTest, ALauncherThatIsKilledLeavesNothingOnAnyHost) {
  Subprocess program(on_hosts({"--mode=leaves a daemon", "--workers=5"}));
  ASSERT_TRUE(program.read_until("waiting"));
  const auto processes = watch(all_processes());
  EXPECT_GE(processes.size(), 3u * 2 + 6);
  program.kill(SIGKILL);
  expect_end_within(std::chrono::seconds(5), processes);
}

TEST_F(SshTest, AHostWhoseAgentIsKilledFailsTheProgramAndNothingIsLeft) {
  Subprocess program(on_hosts({"--mode=leaves a daemon", "--workers=5"}));
  ASSERT_TRUE(program.read_until("waiting"));
  const auto processes = watch(all_processes());
  const int agent = one_with(processes_on("h2"), "--lp-agent=");
  ASSERT_GT(agent, 0);
  kill(agent, SIGKILL);
  EXPECT_EQ(program.wait().code, 1);
  EXPECT_TRUE(has(program.err(), "was lost with its host h2: ")) << program.err();
  expect_end_within(std::chrono::seconds(5), processes);
}

TEST_F(SshTest, AHostWhoseSshdIsKilledFailsTheProgramAndNothingIsLeft) {
  Subprocess program(on_hosts({"--mode=leaves a daemon", "--workers=5", "--grace=2"}));
  ASSERT_TRUE(program.read_until("waiting"));
  const auto processes = watch(all_processes());
  const int ssh = one_with(launch::descendants(program.pid()), " -- h2 ");
  ASSERT_GT(ssh, 0);
  int killed = 0;
  for (const int process : launch::descendants(ssh)) {
    if (contents("/proc/" + std::to_string(process) + "/comm") == "sshd\n") killed += kill(process, SIGKILL) == 0;
  }
  ASSERT_GT(killed, 0);
  EXPECT_EQ(program.wait().code, 1);
  EXPECT_TRUE(has(program.err(), "was lost with its host h2: ")) << program.err();
  expect_end_within(std::chrono::seconds(5), processes);
}

// The ssh of a host is stopped, as if its cable was pulled: both ends notice that no messages arrive.
TEST_F(SshTest, NodesOfAHostThatIsCutOffStartAgainElsewhereAndEndThere) {
  Subprocess program(on_hosts({"--mode=says that it waits", "--workers=2", "--restart", "--grace=2",
                               configuration("groups:\n  counter:\n    hosts: [h1]\n")}));
  ASSERT_TRUE(program.read_until("waiting"));
  const std::vector<int> cut_off = processes_on("h3");
  ASSERT_GT(one_with(cut_off, "--lp-node=worker/1"), 0);
  const AllWatched watched = watch(cut_off);
  const int ssh = one_with(launch::descendants(program.pid()), " -- h3 ");
  ASSERT_GT(ssh, 0);
  kill(ssh, SIGSTOP);
  expect_end_within(std::chrono::seconds(10), watched);
  EXPECT_TRUE(program.read_until("was lost with its host h3: it has not answered for 2 s"));
  EXPECT_TRUE(program.read_until("; restart 1 of 2"));
  program.kill(SIGINT);
  EXPECT_EQ(program.wait().code, 130) << program.err();
}

TEST_F(SshTest, NodesThatNoOtherHostMayHaveWaitUntilTheirsIsThereAgain) {
  Subprocess program(on_hosts({"--mode=says that it waits", "--workers=1", "--restart", "--grace=2",
                               configuration("groups:\n  counter:\n    hosts: [h1]\n  worker:\n    hosts: [h2]\n")}));
  ASSERT_TRUE(program.read_until("waiting"));
  hosts_.shut_down();
  kill(one_with(launch::descendants(program.pid()), " -- h2 "), SIGKILL);
  EXPECT_TRUE(program.read_until("worker/0 waits: no remaining host has room for it: worker/0 needs "));
  EXPECT_TRUE(program.read_until("h2 has been lost"));
  hosts_.boot();
  EXPECT_TRUE(program.read_until("host h2 is connected again"));
  EXPECT_TRUE(program.read_until("waiting", program.err().find("is connected again")));
  EXPECT_GT(one_with(processes_on("h2"), "--lp-node=worker/0"), 0);
  const AllWatched processes = watch(all_processes());
  program.kill(SIGINT);
  EXPECT_EQ(program.wait().code, 130) << program.err();
  EXPECT_FALSE(has(program.err(), "restart 2 of 2")) << program.err();
  expect_end_within(std::chrono::seconds(5), processes);
}

TEST_F(SshTest, AHostThatComesBackGivesWhatItHasThen) {
  hosts_.boot("4");
  const std::string file = "groups: {counter: {hosts: [h1]}, worker: {hosts: [h2], gpus: 1}}\n";
  Subprocess program(
      on_hosts({"--mode=says that it waits", "--workers=1", "--restart", "--grace=2", configuration(file)}));
  ASSERT_TRUE(program.read_until("waiting"));
  hosts_.shut_down();
  kill(one_with(launch::descendants(program.pid()), " -- h2 "), SIGKILL);
  EXPECT_TRUE(program.read_until("worker/0 waits: "));
  hosts_.boot("7,9");
  EXPECT_TRUE(program.read_until("host h2 is connected again; it had 1 gpus, "));
  EXPECT_TRUE(program.read_until(", and has 2 gpus, "));
  EXPECT_TRUE(program.read_until("waiting", program.err().find("is connected again")));
  const int worker = one_with(processes_on("h2"), "--lp-node=worker/0");
  EXPECT_TRUE(launch::has_mark(worker, "CUDA_VISIBLE_DEVICES=GPU-7"));
  program.kill(SIGINT);
  EXPECT_EQ(program.wait().code, 130) << program.err();
}

TEST_F(SshTest, NodesShareAGpuOfAHostOfWhichTheyAskForParts) {
  hosts_.boot("4,9");
  const std::string file = "groups: {counter: {hosts: [h2], gpus: 1}, worker: {hosts: [h2], gpus: 0.5}}\n";
  Subprocess program(on_hosts({"--mode=says where it is", "--workers=2", configuration(file)}));
  EXPECT_EQ(program.wait().code, 0) << program.err();
  for (const std::string worker : {"worker/0", "worker/1"}) {
    EXPECT_TRUE(has(program.err(), worker + " | gpus GPU-9, ")) << program.err();
  }
  Subprocess most(on_hosts({"--workers=3", configuration(file)}));
  EXPECT_EQ(most.wait().code, 2) << most.err();
  EXPECT_TRUE(has(most.err(), "worker/2 needs 0.5 gpus, 0 of memory, and h2 has 0 gpus, ")) << most.err();
}

TEST_F(SshTest, WhatDoesNotFitOnAHostThatComesBackWithLessIsRefused) {
  hosts_.boot("4,9");
  const std::string file = "groups: {counter: {hosts: [h1]}, worker: {hosts: [h2], gpus: 2}}\n";
  Subprocess program(
      on_hosts({"--mode=says that it waits", "--workers=1", "--restart", "--grace=2", configuration(file)}));
  ASSERT_TRUE(program.read_until("waiting"));
  hosts_.shut_down();
  kill(one_with(launch::descendants(program.pid()), " -- h2 "), SIGKILL);
  EXPECT_TRUE(program.read_until("worker/0 waits: "));
  hosts_.boot("4");
  EXPECT_EQ(program.wait().code, 1);
  EXPECT_TRUE(has(program.err(), "host h2 is connected again; it had 2 gpus, ")) << program.err();
  EXPECT_TRUE(has(program.err(),
                  "the program failed: worker/0 (incarnation 3): could not be started: no remaining host has room for "
                  "it: worker/0 needs 2 gpus, 0 of memory, and h2 has 1 gpus, "))
      << program.err();
}

TEST_F(SshTest, ARunWhoseNodesWaitForAHostCanBeStopped) {
  Subprocess program(on_hosts({"--mode=says that it waits", "--workers=1", "--restart",
                               configuration("groups:\n  counter:\n    hosts: [h1]\n  worker:\n    hosts: [h2]\n")}));
  ASSERT_TRUE(program.read_until("waiting"));
  kill(one_with(launch::descendants(program.pid()), " -- h2 "), SIGKILL);
  EXPECT_TRUE(program.read_until("worker/0 waits: "));
  program.kill(SIGINT);
  EXPECT_EQ(program.wait(std::chrono::seconds(5)).code, 130) << program.err();
}

TEST_F(SshTest, AnElasticGroupHasWhoFitsIntoTheSlots) {
  Subprocess program(on_hosts({"--json", "--workers=1..6"}));
  ASSERT_EQ(program.wait().code, 0) << program.err();
  EXPECT_TRUE(has(program.last_line(), "\"total\":10")) << program.last_line();  // the third slot is the counter's
  EXPECT_TRUE(has(program.err(), "group worker starts with 2 of 1..6 members: has no host: worker/2 needs "))
      << program.err();
}

TEST_F(SshTest, AMemberOfALostHostIsAbsentUntilThatIsThereAgain) {
  Subprocess program(on_hosts({"--mode=says that it waits", "--workers=1..2", "--restart", "--grace=2",
                               configuration("groups:\n  counter:\n    hosts: [h1]\n")}));
  ASSERT_TRUE(program.read_until("waiting"));
  const std::vector<int> lost = processes_on("h3");
  ASSERT_GT(one_with(lost, "--lp-node=worker/1"), 0);
  hosts_.shut_down();
  kill(one_with(launch::descendants(program.pid()), " -- h3 "), SIGKILL);
  EXPECT_TRUE(program.read_until("worker/1: has no host: "));
  EXPECT_TRUE(program.read_until("; the program continues without it"));
  EXPECT_TRUE(has(contents(directory_ / "run1" / "events.log"), "\"left\""));
  hosts_.boot();
  EXPECT_TRUE(program.read_until("host h3 is connected again"));
  EXPECT_TRUE(program.read_until("waiting", program.err().find("is connected again")));
  program.kill(SIGINT);
  EXPECT_EQ(program.wait().code, 130) << program.err();
}

TEST_F(SshTest, MembersWithStateComeAndGoAndTheResultIsThatOfARunWithoutFailures) {
  const std::string file = "members: [2, 3]\ngroups: {trainer: {hosts: [h1]}}\n";
  Subprocess program(on_hosts({"--json", "--grace=2", "--program=replicated", "--workers=1..3", "--steps=60",
                               "--mode=one is killed", configuration(file)},
                              "h1:2,h2,h3"));
  ASSERT_TRUE(program.read_until("waiting at step 20\n"));
  wait_for_cut(20);
  hosts_.shut_down();
  kill(one_with(launch::descendants(program.pid()), " -- h3 "), SIGKILL);
  ASSERT_TRUE(program.read_until("waiting at step 40\n"));
  wait_for_cut(40);
  hosts_.boot();
  EXPECT_EQ(program.wait().code, 0) << program.err();
  for (const char* text :
       {"replica/2: was lost with its host h3: ", "from the checkpoint of step 20\n",
        "replica/2: has no host: ", "replica/1 | loaded step 20\n", "there: 0 1\n",
        "replica/2 has joined; the program continues with it\n", "replica/0: was killed by signal 9"}) {
    EXPECT_TRUE(has(program.err(), text)) << text << "\n" << program.err();
  }
  const std::size_t came = program.err().find("replica/2 has joined");
  EXPECT_TRUE(has(program.err().substr(came), "there: 0 1 2\n")) << program.err();
  EXPECT_TRUE(has(program.err().substr(came), "replica/2 | loaded step ")) << program.err();

  Subprocess here(arguments({with_processes(), "--json", "--program=replicated", "--workers=3", "--steps=60"}));
  ASSERT_EQ(here.wait().code, 0) << here.err();
  EXPECT_EQ(here.last_line().substr(0, here.last_line().find("launch")),
            program.last_line().substr(0, program.last_line().find("launch")));
}

// A command that runs `line` on a host that does not have the program yet, and whose home is `home`.
launch::CommandThere without_program(const SshHosts& hosts, const std::filesystem::path& home) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  return [=, ssh = hosts.ssh().substr(6)](const HostSpec& host, std::string line) {
    for (std::size_t at = 0; (at = line.find(program)) != std::string::npos;)
      line.replace(at, program.size(), "/none/prog");
    return launch::ssh_command(ssh, host.name, "export HOME=" + home.string() + "; " + line);
  };
}

std::vector<std::filesystem::path> copies_in(const std::filesystem::path& home) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(home / ".cache/lp")) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  return files;
}

TEST_F(SshTest, TheProgramIsCopiedWhereItIsMissingOrDifferent) {
  const auto command = without_program(hosts_, directory_);
  const std::vector<HostSpec> one{{.name = "h1"}};
  { EXPECT_EQ(launch::start_agents_there(one, command, {.mark = "copy"}).size(), 1u); }
  ASSERT_EQ(copies_in(directory_).size(), 1u);
  const auto copy = copies_in(directory_).front();
  EXPECT_EQ(std::filesystem::file_size(copy), std::filesystem::file_size("/proc/self/exe"));
  EXPECT_EQ(std::filesystem::status(copy).permissions(), std::filesystem::perms::owner_all);
  const auto written = std::filesystem::last_write_time(copy);

  { EXPECT_EQ(launch::start_agents_there(one, command, {.mark = "copy"}).size(), 1u); }
  EXPECT_EQ(std::filesystem::last_write_time(copy), written);  // it was not copied again
  EXPECT_TRUE(std::filesystem::is_empty(directory_ / ".cache/lp/runs"));

  std::filesystem::resize_file(copy, 1000);
  { EXPECT_EQ(launch::start_agents_there(one, command, {.mark = "copy"}).size(), 1u); }
  EXPECT_EQ(std::filesystem::file_size(copy), std::filesystem::file_size("/proc/self/exe"));
  EXPECT_EQ(copies_in(directory_).size(), 1u);
}

TEST_F(SshTest, AHostOfAnotherKindOfMachineIsSaidAndNothingIsCopied) {
  const auto command = without_program(hosts_, directory_);
  const auto another = [&](const HostSpec& host, const std::string& line) {
    return command(host, "echo a login prints this >&2; exec linux32 /bin/sh -c " + launch::shell_quote(line));
  };
  try {
    launch::start_agents_there({{.name = "h1"}}, another, {.mark = "copy"});
    ADD_FAILURE() << "it should not start";
  } catch (const Error& error) {
    EXPECT_TRUE(has(error.text(), "h1: its agent could not be started: the program was built for ")) << error.text();
    EXPECT_TRUE(has(error.text(), ", and this host is ")) << error.text();
    EXPECT_TRUE(has(error.text(), "; it printed: a login prints this")) << error.text();
  }
  EXPECT_FALSE(std::filesystem::exists(directory_ / ".cache/lp"));
}

TEST_F(SshTest, AFullDiskThereIsSaid) {
  std::filesystem::create_directories(directory_ / ".cache");
  std::ofstream(directory_ / ".cache/lp") << "in the way";
  try {
    launch::start_agents_there({{.name = "h1"}}, without_program(hosts_, directory_), {.mark = "copy"});
    ADD_FAILURE() << "it should not start";
  } catch (const Error& error) {
    EXPECT_TRUE(has(error.text(), "h1: its agent could not be started: the program could not be copied to "))
        << error.text();
    EXPECT_TRUE(has(error.text(), "; it printed: mkdir: ")) << error.text();
  }
}

}  // namespace
}  // namespace lp::test
