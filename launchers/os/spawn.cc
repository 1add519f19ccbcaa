#include "launchers/os/spawn.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <map>
#include <system_error>
#include <utility>

#include "launchers/os/pidfd.h"
#include "launchers/os/process_stat.h"
#include "launchers/os/relaunch_command.h"
#include "lp/base/descriptor.h"
#include "lp/base/error.h"

extern char** environ;  // NOLINT: the C library's

namespace lp::launch {
namespace {

constexpr const char* kThisBinary = "/proc/self/exe";
constexpr const char* kProcessLimit =
    "; the limit is `ulimit -u`, or the container's pids.max: raise it, or run fewer nodes per host";

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));  // execve does not write
  result.push_back(nullptr);
  return result;
}

// The agent's environment, changed by `changes`.
std::vector<std::string> changed_environment(const std::vector<std::string>& changes) {
  std::map<std::string, std::string> all;
  const auto put = [&](const std::string& entry) { all[entry.substr(0, entry.find('='))] = entry; };
  for (char** entry = environ; *entry != nullptr; ++entry) put(*entry);
  for (const std::string& entry : changes) put(entry);
  std::vector<std::string> result;
  for (auto& [name, entry] : all) result.push_back(std::move(entry));
  return result;
}

struct Failure {
  int error;
  std::array<char, 32> step;
};

[[noreturn]] void give_up(int report, const char* step) {
  Failure failure{.error = errno, .step = {}};
  std::strncpy(failure.step.data(), step, failure.step.size() - 1);
  [[maybe_unused]] const auto size = write(report, &failure, sizeof failure);
  _exit(127);
}

// When memory runs out, the kernel shall kill this process, which has a policy, and not a process that watches it. The
// score makes the kernel count a fifth of all memory more for it.
void offer_to_the_kernel() {
  constexpr const char* kFile = "/proc/self/oom_score_adj";
  constexpr int kMore = 200, kMost = 1000;
  int score = 0;
  if (std::ifstream(kFile) >> score) std::ofstream(kFile) << std::min(score + kMore, kMost);
}

// Runs in the child between fork and exec.
[[noreturn]] void become(const NodeProcess& process, pid_t agent, int report, char* const* argv, char* const* env) {
  setpgid(0, 0);
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) give_up(report, "prctl");
  if (getppid() != agent) _exit(127);  // the agent died before prctl
  offer_to_the_kernel();
  if (process.terminal) {
    signal(SIGTTOU, SIG_IGN);
    tcsetpgrp(STDIN_FILENO, getpid());
  } else {
    const int null = open("/dev/null", O_RDONLY);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0) give_up(report, "open /dev/null");
  }
  // Moves it above the numbers of the descriptors that the child gets.
  const int high_report = fcntl(report, F_DUPFD_CLOEXEC, 10);
  const int control = fcntl(process.control, F_DUPFD_CLOEXEC, 10);
  if (high_report < 0 || control < 0) give_up(report, "dup");
  if (process.out >= 0) dup2(process.out, STDOUT_FILENO);
  if (process.err >= 0) dup2(process.err, STDERR_FILENO);
  if (dup2(control, kControlDescriptor) < 0) give_up(high_report, "dup2");
  close_range(kControlDescriptor + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  // Cancelling a job signals every process. The coordinator gets the signal, too, and stops this process in order.
  if (std::getenv("SLURM_JOB_ID") != nullptr) signal(SIGTERM, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (!process.directory.empty() && chdir(process.directory.c_str()) != 0) give_up(high_report, "chdir");
  if (!process.cores.empty()) {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    for (const unsigned core : process.cores) CPU_SET(core, &cores);
    if (sched_setaffinity(0, sizeof cores, &cores) != 0) give_up(high_report, "sched_setaffinity");
  }
  execvpe(process.program.empty() ? kThisBinary : process.program.c_str(), argv, env);
  give_up(high_report, "execve");
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

template <class F>
void for_each_process(F f) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    if (is_number(name)) f(static_cast<pid_t>(std::atoi(name.c_str())));
  }
}

}  // namespace

pid_t fork_node(const NodeProcess& process) {
  std::array<int, 2> report{};
  if (pipe2(report.data(), O_CLOEXEC) != 0) {
    throw Error(ErrorKind::failed,
                std::string("no pipe could be made: ") + std::strerror(errno) + "; the limit may be `ulimit -n`");
  }
  const std::vector<std::string> environment = changed_environment(process.environment);
  const std::vector<char*> argv = pointers(process.arguments);
  const std::vector<char*> env = pointers(environment);
  const pid_t agent = getpid();
  const pid_t child = fork();
  if (child == 0) become(process, agent, report[1], argv.data(), env.data());
  const int fork_error = errno;
  close(report[1]);
  Failure failure{};
  const bool failed = child > 0 && read(report[0], &failure, sizeof failure) == sizeof failure;
  close(report[0]);
  if (child < 0) {
    throw Error(ErrorKind::failed,
                std::string("fork: ") + std::strerror(fork_error) + (fork_error == EAGAIN ? kProcessLimit : ""));
  }
  if (failed) throw Error(ErrorKind::failed, std::string(failure.step.data()) + ": " + std::strerror(failure.error));
  return child;
}

namespace {

// Starts `program` of the search path in a process group of its own, because Ctrl-C on the terminal is for the launcher
// alone. `descriptors` maps our descriptors to their numbers in the child.
pid_t spawn_process(const char* program, const std::vector<std::string>& arguments,
                    const std::vector<std::string>& environment,
                    std::initializer_list<std::pair<int, int>> descriptors) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  // Two steps: a descriptor loses close-on-exec even when it already has its number, and none is overwritten.
  std::vector<int> spares;
  for (const auto& [ours, theirs] : descriptors) {
    spares.push_back(fcntl(ours, F_DUPFD_CLOEXEC, kControlDescriptor + 1));
    posix_spawn_file_actions_adddup2(&files, spares.back(), theirs);
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  pid_t process = -1;
  const int error =
      posix_spawnp(&process, program, &files, &attributes, pointers(arguments).data(), pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  for (const int spare : spares) {
    if (spare >= 0) close(spare);
  }
  if (error != 0) {
    throw Error(ErrorKind::failed, "cannot start " + arguments.front() + ": " + std::strerror(error) +
                                       (error == EAGAIN ? kProcessLimit : ""));
  }
  return process;
}

}  // namespace

pid_t spawn_agent(int control, const std::string& mark) {
  // The name that the user typed, so that `ps` shows it.
  const std::vector<std::string> words = own_command_line();
  const std::string name = words.empty() || words[0].empty() ? "lp" : words[0];
  return spawn_process(kThisBinary, {name, "--lp-agent"}, changed_environment({mark}), {{control, kControlDescriptor}});
}

pid_t spawn_command(const std::vector<std::string>& command, const StandardStreams& streams) {
  return spawn_process(
      command.front().c_str(), command, changed_environment({}),
      {{streams.input, STDIN_FILENO}, {streams.output, STDOUT_FILENO}, {streams.errors, STDERR_FILENO}});
}

void end_child(pid_t child, Duration patience) {
  constexpr auto kTimeToObey = std::chrono::seconds(2);
  if (const Descriptor end(pidfd_open(child, 0)); end) {
    std::array<Poller::Ready, 1> ready;
    Poller poller;
    poller.add(end.number(), 0);
    for (const int signal : {SIGTERM, SIGKILL}) {  // SIGTERM comes first, because a killed srun leaves its step behind
      if (poller.wait(ready, after(signal == SIGTERM ? patience : kTimeToObey)) > 0) break;
      pidfd_send_signal(end.number(), signal, nullptr, 0);
    }
  } else if (errno != ESRCH) {  // no descriptor is left; if the child is gone, another process may have its number
    kill(child, SIGKILL);
  }
  waitpid(child, nullptr, 0);  // fails when another part of this process reaps all children
}

std::string run_mark(const std::string& run, const std::string& host) {
  return "LP_RUN=" + run + (host.empty() ? "" : "@" + host);
}

std::string node_mark(const std::string& run, std::size_t process, std::uint32_t incarnation) {
  return "LP_NODE=" + run + ":" + std::to_string(process) + ":" + std::to_string(incarnation);
}

std::vector<pid_t> descendants(pid_t ancestor) {
  std::multimap<pid_t, pid_t> children;
  for_each_process([&](pid_t process) {
    if (const auto stat = process_stat("/proc/" + std::to_string(process))) children.emplace(stat->parent, process);
  });
  std::vector<pid_t> found{ancestor};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [first, last] = children.equal_range(found[i]);
    for (auto at = first; at != last; ++at) found.push_back(at->second);
  }
  found.erase(found.begin());
  return found;
}

bool has_mark(pid_t process, const std::string& mark) {
  std::ifstream file("/proc/" + std::to_string(process) + "/environ", std::ios::binary);
  std::string entry;
  while (std::getline(file, entry, '\0')) {
    if (entry == mark) return true;
  }
  return false;
}

void kill_marked(const std::string& mark) {
  constexpr int kRounds = 5;  // a process may fork during the search
  for (int round = 0; round < kRounds; ++round) {
    bool any = false;
    for_each_process([&](pid_t process) {
      if (process == getpid() || !has_mark(process, mark)) return;
      any = kill(process, SIGKILL) == 0 || any;
    });
    if (!any) return;
  }
}

}  // namespace lp::launch
