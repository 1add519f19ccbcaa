#pragma once
// A real Slurm on this machine, with nodes n1, n2 and so on, for any user: munged, slurmctld and a slurmd for each
// node, on ports of 127.0.0.1 that were free. They end with their owner, and with the test's process, however that
// ends. The programs that the test starts find it by SLURM_CONF. Owned by a test; one thread.

#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "launchers/os/spawn.h"
#include "lp/base/scheduler.h"
#include "tests/directory.h"
#include "tests/launchers/reserved_port.h"
#include "tests/launchers/tools_for_test.h"
#include "tests/launchers/watched.h"

extern char** environ;  // NOLINT: the C library's

namespace lp::test {

class SlurmCluster {
 public:
  explicit SlurmCluster(int nodes = 3, int cpus = 4) : cpus_(cpus), ports_(static_cast<std::size_t>(nodes) + 1) {
    const std::filesystem::path& here = directory_.path();
    for (int node = 1; node <= nodes; ++node) nodes_.push_back("n" + std::to_string(node));
    for (const std::string& node : nodes_) std::filesystem::create_directories(here / "spool" / node);
    std::filesystem::create_directories(here / "state");
    EXPECT_EQ(command("umask 077; head -c 128 /dev/urandom >" + (here / "munge.key").string()).code, 0);
    const std::string socket = (here / "munge.socket").string();
    write_configuration(socket);
    setenv("SLURM_CONF", configuration().c_str(), 1);
    daemons_["munged"] =
        start({"/usr/sbin/munged", "--foreground", "--force", "--num-threads=2",
               "--key-file=" + (here / "munge.key").string(), "--socket=" + socket,
               "--pid-file=" + (here / "munged.pid").string(), "--log-file=" + (here / "munged.log").string(),
               "--seed-file=" + (here / "munged.seed").string()});
    wait_for("munge -S " + socket + " -n", "");
    start_slurmctld();
    for (const std::string& node : nodes_) start_slurmd(node);
    wait_for("sinfo -h -N -o %T | sort | uniq -c", std::to_string(nodes) + " idle");
  }
  ~SlurmCluster() {
    static_cast<void>(command("scancel --user=$(id -un)"));
    while (!daemons_.empty()) end(daemons_.rbegin()->first);
    launch::kill_marked(mark());  // slurmstepd outlives its slurmd
    unsetenv("SLURM_CONF");
  }
  SlurmCluster(const SlurmCluster&) = delete;
  SlurmCluster& operator=(const SlurmCluster&) = delete;

  // The processes of jobs on a node.
  std::vector<int> processes_on(const std::string& node) const { return own(marked("SLURMD_NODENAME=" + node)); }
  // Those of these processes that this Slurm has started; others have nodes of the same names.
  std::vector<int> own(std::vector<int> processes) const {
    std::erase_if(processes, [this](int process) { return !launch::has_mark(process, mark()); });
    return processes;
  }

  // Without slurmctld, no command of Slurm is answered; jobs go on.
  void start_slurmctld() { daemons_[kController] = start({"/usr/sbin/slurmctld", "-D", "-f", configuration()}); }
  void end_slurmctld() { end(kController, SIGTERM); }  // it keeps its state
  void stop_slurmctld() const { kill(daemons_.at(kController), SIGSTOP); }
  void continue_slurmctld() const { kill(daemons_.at(kController), SIGCONT); }

  void start_slurmd(const std::string& node) {
    daemons_[node] = start({"/usr/sbin/slurmd", "-D", "-f", configuration(), "-N", node});
  }
  // Slurm ends on the node; the processes that it has started there live on.
  void kill_slurmd(const std::string& node) { end(node); }
  // Acts like a power failure: no process of the node sends anything any more or reacts to the end of another.
  void kill_host(const std::string& node) {
    end(node);
    std::vector<int> all;  // parents before their children
    for (const int process : processes_on(node)) {
      const int parent = parent_of(process);
      if (!contents("/proc/" + std::to_string(parent) + "/comm").starts_with("slurmstepd")) continue;
      all.push_back(parent);
      const std::vector<int> below = launch::descendants(parent);
      all.insert(all.end(), below.begin(), below.end());
    }
    for (const int process : all) kill(process, SIGSTOP);
    std::reverse(all.begin(), all.end());  // when a process dies, the kernel lets its children go on
    for (const int process : all) kill(process, SIGKILL);
  }

 private:
  std::string configuration() const { return (directory_.path() / "slurm.conf").string(); }

  // This is in the environment of every process of this Slurm.
  std::string mark() const { return "SLURM_CONF=" + configuration(); }

  static int parent_of(int process) {
    const std::string status = contents("/proc/" + std::to_string(process) + "/status");
    const std::size_t at = status.find("PPid:");
    return at == std::string::npos ? -1 : std::atoi(status.c_str() + at + 5);
  }

  void end(const std::string& daemon, int signal = SIGKILL) {
    const auto at = daemons_.find(daemon);
    kill(at->second, signal);
    waitpid(at->second, nullptr, 0);
    daemons_.erase(at);
  }

  void write_configuration(const std::string& munge) const {
    const std::string here = directory_.path().string();
    auto port = ports_.begin();
    const auto next_port = [&] { return (port++)->number(); };
    const std::string user = command("id -un").output.substr(0, command("id -un").output.find('\n'));
    const std::string name = command("hostname -s").output.substr(0, command("hostname -s").output.find('\n'));
    std::ofstream(directory_.path() / "cgroup.conf") << "CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n";
    std::ofstream file(configuration());
    file << "ClusterName=test\nSlurmctldHost=" << name << "(127.0.0.1)\nSlurmctldPort=" << next_port()
         << "\nSlurmUser=" << user << "\nSlurmdUser=" << user << "\nAuthType=auth/munge\nAuthInfo=socket=" << munge
         << ",cred_expire=5\nCredType=cred/munge\nStateSaveLocation=" << here << "/state\nSlurmdSpoolDir=" << here
         << "/spool/%n\nSlurmctldPidFile=" << here << "/slurmctld.pid\nSlurmdPidFile=" << here
         << "/slurmd.%n.pid\nSlurmctldLogFile=" << here << "/slurmctld.log\nSlurmdLogFile=" << here
         << "/slurmd.%n.log\n"
         << "MailProg=/bin/true\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n"
         << "JobAcctGatherType=jobacct_gather/none\nMpiDefault=none\nSlurmdParameters=config_overrides\n"
         << "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nSlurmdTimeout=3\nMessageTimeout=4\n"
         << "InactiveLimit=0\nKillWait=3\nMinJobAge=300\nReturnToService=2\nSchedulerType=sched/backfill\n"
         << "SchedulerParameters=bf_interval=1,sched_interval=2,batch_sched_delay=0\nBatchStartTimeout=10\n"
         << "CommunicationParameters=NoInAddrAny,NoCtldInAddrAny\n"
         << "AccountingStorageType=accounting_storage/none\n";
    for (const std::string& node : nodes_) {
      file << "NodeName=" << node << " NodeHostname=" << name << " NodeAddr=127.0.0.1 Port=" << next_port()
           << " CPUs=" << cpus_ << " RealMemory=1000 Feature=is-" << node << "\n";
    }
    file << "PartitionName=main Nodes=n[1-" << nodes_.size() << "] Default=YES MaxTime=60 DefaultTime=5 State=UP\n";
  }

  // A daemon that the kernel ends with this process.
  pid_t start(std::vector<std::string> words) {
    words.insert(words.begin(), {"setpriv", "--pdeathsig", "KILL"});
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    const std::string log = (directory_.path() / "daemons.log").string();
    posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    pid_t daemon = -1;
    EXPECT_EQ(posix_spawnp(&daemon, argv[0], &files, nullptr, argv.data(), environ), 0) << words[3];
    posix_spawn_file_actions_destroy(&files);
    return daemon;
  }

  // Daemons do not report when they are ready, so the test polls them.
  void wait_for(const std::string& line, const std::string& text) const {
    Event never;
    const Time end = after(std::chrono::seconds(60));
    for (Ended ended; now() < end;) {
      ended = command(line);
      if (ended.code == 0 && ended.output.find(text) != std::string::npos) return;
      never.wait(after(std::chrono::milliseconds(20)));
    }
    ADD_FAILURE() << "Slurm did not come up:\n" << contents(directory_.path() / "daemons.log");
  }

  static constexpr const char* kController = "slurmctld";

  const Directory directory_;
  const int cpus_;  // each node has as many
  const std::vector<ReservedPort> ports_;
  std::vector<std::string> nodes_;
  std::map<std::string, pid_t> daemons_;  // by the name of the node
};

}  // namespace lp::test
