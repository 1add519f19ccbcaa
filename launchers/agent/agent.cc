#include "launchers/agent/agent.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "launchers/agent/child.h"
#include "launchers/agent/reaper.h"
#include "launchers/control/checkpoint_transfer.h"
#include "launchers/control/control_generated.h"
#include "launchers/control/measurement.h"
#include "launchers/control/message_stream.h"
#include "launchers/control/messages.h"
#include "launchers/control/process_roles.h"
#include "launchers/os/descriptor_limit.h"
#include "launchers/os/pidfd.h"
#include "launchers/os/process_memory.h"
#include "launchers/os/spawn.h"
#include "launchers/plan/hosts.h"
#include "lp/base/message.h"
#include "lp/base/scheduler.h"
#include "lp/checkpoint/cut.h"
#include "lp/program/plan_check.h"

namespace lp::internal {
namespace {

constexpr std::size_t kOutbox = std::size_t{4} << 20;  // bytes that wait for the launcher; above it, no output is read
constexpr std::size_t kOutputAtOnce = std::size_t{1} << 16;  // bytes of a pipe, before other pipes get their turn
// bytes that are read from a pipe after its process has ended
constexpr std::size_t kLastOutput = std::size_t{1} << 18;
// the time that a launcher elsewhere has to start all of its agents
constexpr auto kFirstBeat = std::chrono::minutes(10);
constexpr auto kMemoryPeriod = std::chrono::milliseconds(100);  // between two measurements of limited processes

enum class Source : std::uint64_t { control, out, err };
constexpr std::uint64_t kLauncher = 0;
constexpr std::uint64_t kSignals = 1;
constexpr std::uint64_t kLauncherProcess = 2;
// in the poll set, where output to the launcher has a descriptor of its own
constexpr std::uint64_t kLauncherOutput = 3;
constexpr std::uint64_t kFirstSerial = 4;

std::uint64_t tag_of(const Child& child, Source source) {
  return child.serial * 4 + static_cast<std::uint64_t>(source);
}

class Agent {
 public:
  // Without a lease, only the end of the connection counts as the launcher's end.
  Agent(int in, int out, std::optional<Duration> lease, pid_t warden)
      : launcher_(in, out, kLargeMessages),
        warden_(warden),
        memory_kills_(out_of_memory_kills()),
        lease_(lease),
        heard_(after(kFirstBeat)) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    raise_descriptor_limit();
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    signals_ = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    poller_.add(launcher_.fd(), kLauncher);
    if (out != in) poller_.add(out, kLauncherOutput, false, false);
    poller_.add(signals_, kSignals);
    // A process that the launcher forked may hold the launcher's end of the connection open, so we watch the launcher's
    // process, too.
    launcher_process_ = pidfd_open(getppid(), 0);
    if (launcher_process_ >= 0) poller_.add(launcher_process_, kLauncherProcess);
  }

  // Returns false when the launcher has ended while nodes were running, or was silent for a lease. Such an end is not
  // in order.
  bool serve() {
    std::array<Poller::Ready, 64> ready;
    while (open_) {
      const std::size_t count = poller_.wait(ready, std::min(next_memory_, lease_end()));
      for (std::size_t i = 0; i < count && open_; ++i) handle(ready[i]);
      watch_lease();
      watch_memory();
      watch_launcher();
      watch_output();
      watch_nodes();
    }
    const bool in_order = children_.empty() && now() < lease_end();
    end_everything();
    return in_order;
  }

  // Reports the resources of this host to a launcher on another one. `directory` receives the files that nodes save.
  void say_hello(const std::filesystem::path& directory) {
    directory_ = directory;
    const HostCapacity here = capacity_here();
    control::HelloT hello;
    hello.cores.assign(here.cores.begin(), here.cores.end());
    hello.gpus = here.gpus;
    hello.memory = here.memory;
    hello.directory = directory;
    hello.address = address_of_connection();
    if (const char* machine = std::getenv(kMachineVariable); machine != nullptr) hello.machine = machine;
    launcher_.send(pack(0, 0, std::move(hello)));
  }

 private:
  // Kubernetes sets the address as the manifest asks for it. sshd sets the client's address and port and this host's,
  // or UNKNOWN behind a proxy.
  static std::string address_of_connection() {
    if (const char* address = std::getenv(kAddressVariable); address != nullptr) return address;
    const char* connection = std::getenv("SSH_CONNECTION");
    std::istringstream words(connection == nullptr ? "" : connection);
    std::string word;
    for (int i = 0; i < 3; ++i) words >> word;
    return words && word != "UNKNOWN" ? word : std::string();
  }

  void handle(const Poller::Ready& ready) {
    if (ready.tag == kLauncher) {
      if (ready.writable) launcher_.flush();
      if (ready.readable) hear_launcher();
    } else if (ready.tag == kLauncherOutput) {
      ready.writable ? launcher_.flush() : void(open_ = false);
    } else if (ready.tag == kSignals) {
      reap();
    } else if (ready.tag == kLauncherProcess) {
      open_ = false;
    } else if (const auto at = children_.find(ready.tag / 4); at != children_.end()) {
      Child& child = *at->second;
      switch (static_cast<Source>(ready.tag % 4)) {
        case Source::control:
          if (ready.writable) child.control->flush();
          if (ready.readable) hear_node(child);
          watch_control(child);
          break;
        case Source::out: pass_output(child, child.out, false, kOutputAtOnce); break;
        case Source::err: pass_output(child, child.err, true, kOutputAtOnce); break;
      }
    }
  }

  void hear_launcher() {
    std::string fault;
    heard_ = now();
    open_ = launcher_.receive([this](auto bytes) { obey(bytes); }, fault) && open_;
    if (!fault.empty()) log_line("the agent ends, because of its launcher: " + fault);
  }

  void obey(std::span<const std::uint8_t> bytes) {
    const control::Message* message = unpack(bytes);
    if (message == nullptr) {
      log_line("the agent ends, because its launcher sent something that is no control message");
      open_ = false;
      return;
    }
    if (const auto* spawn = message->body_as_Spawn()) return start(*message, *spawn);
    if (const auto* piece = message->body_as_Piece()) return take_piece(*message, *piece);
    if (const auto* flow = message->body_as_Flow()) {
      paused_ = flow->paused();
      return;
    }
    if (message->body_as_Beat() != nullptr) return launcher_.send(bytes);
    Child* child = find(message->unit(), message->incarnation());
    if (child == nullptr) return;  // it has ended meanwhile
    if (message->body_as_Measure() != nullptr) {
      const ProcessUse use = use_of(child->pid);
      control::UsedT used;
      used.cpu = use.cpu;
      used.memory = use.memory;
      tell(*child, std::move(used));
    }
    if (message->body_as_Kill() != nullptr) {
      child->killed = true;
      kill(-child->pid, SIGKILL);
    } else if (child->control != nullptr) {
      child->control->send(bytes);
      watch_control(*child);
    }
  }

  void watch_control(const Child& child) {
    if (child.control == nullptr) return;
    poller_.change(child.control->fd(), tag_of(child, Source::control), child.control->pending() > 0, !held_);
  }

  // Stores a piece of a file that the next process of a unit will load.
  void take_piece(const control::Message& message, const control::Piece& piece) {
    if (directory_.empty() || piece.name() == nullptr) return;
    try {
      const std::filesystem::path restore = restore_directory(directory_, message.unit(), message.incarnation());
      std::filesystem::create_directories(restore);
      put_piece(cut_file(restore, piece.name()->str()), piece);
    } catch (const std::exception& error) {
      not_restored_[message.unit()] = error.what();
    }
  }

  void start(const control::Message& message, const control::Spawn& spawn) {
    std::unique_ptr<Child> child = start_child(message, spawn, std::exchange(not_restored_[message.unit()], {}));
    child->serial = ++last_serial_;
    if (child->pid < 0) return report_exit(*child, {});
    control::SpawnedT spawned;
    spawned.pid = child->pid;
    tell(*child, std::move(spawned));
    poller_.add(child->control->fd(), tag_of(*child, Source::control));
    if (child->out >= 0 && !muted_) {
      poller_.add(child->out, tag_of(*child, Source::out));
      poller_.add(child->err, tag_of(*child, Source::err));
    }
    child->control->send({spawn.start()->data(), spawn.start()->size()});
    watch_control(*child);
    if (child->memory > 0) next_memory_ = std::min(next_memory_, after(kMemoryPeriod));
    by_pid_[child->pid] = child.get();
    by_unit_[child->unit] = child.get();
    children_.emplace(child->serial, std::move(child));
  }

  void hear_node(Child& child) {
    std::string fault;
    const bool open = child.control->receive([&](auto bytes) { pass(child, bytes); }, fault);
    if (open && child.fault.empty()) return;
    poller_.remove(child.control->fd());
    child.control.reset();
    if (!fault.empty()) child.fault = "was ended by its agent: " + fault;
    if (!child.fault.empty()) kill(-child.pid, SIGKILL);
  }

  // Forwards a node's message to the launcher, if the node speaks only for itself.
  void pass(Child& child, std::span<const std::uint8_t> bytes) {
    const control::Message* message = unpack(bytes);
    if (message == nullptr || message->unit() != child.unit || message->incarnation() != child.incarnation ||
        message->body_type() < control::Body::Piece) {
      child.fault = "was ended by its agent: it sent what is no control message of a node";
      return;
    }
    launcher_.send(bytes);
  }

  // Reads at most `most` bytes of the pipe and forwards them.
  void pass_output(Child& child, int& fd, bool error, std::size_t most) {
    std::vector<std::uint8_t> bytes(kOutputAtOnce);
    while (most > 0 && fd >= 0) {
      const ssize_t got = read(fd, bytes.data(), bytes.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) return;
      if (got <= 0) {
        poller_.remove(fd);
        close(std::exchange(fd, -1));
        return;
      }
      control::OutputT output;
      output.error = error;
      output.bytes.assign(bytes.begin(), bytes.begin() + got);
      tell(child, std::move(output));
      most -= std::min(most, static_cast<std::size_t>(got));
    }
  }

  // Reaps the processes that have ended. A process that is not reaped keeps its number, so our signals cannot hit
  // another process.
  void reap() {
    signalfd_siginfo ignored;
    while (read(signals_, &ignored, sizeof ignored) == sizeof ignored) {
    }
    for (;;) {
      siginfo_t info{};
      if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return;
      if (const auto at = by_pid_.find(info.si_pid); at != by_pid_.end()) {
        end(*at->second);
      } else {
        waitpid(info.si_pid, nullptr, WNOHANG);  // a grandchild that we adopted
      }
    }
  }

  // Finishes the end of a node's process: reads its last output, and kills its process group and its orphans.
  void end(Child& child) {
    kill(-child.pid, SIGKILL);
    kill_orphans(child);
    if (child.control != nullptr) hear_node(child);
    pass_output(child, child.out, false, kLastOutput);
    pass_output(child, child.err, true, kLastOutput);
    int status = 0;
    waitpid(child.pid, &status, 0);
    control::ExitedT exited;
    if (WIFSIGNALED(status)) {
      exited.signal = WTERMSIG(status);
      exited.core = WCOREDUMP(status);
      if (exited.signal == SIGKILL && !child.killed) {
        const long kills = out_of_memory_kills();
        exited.out_of_memory = kills > memory_kills_;
        memory_kills_ = kills;
      }
    } else {
      exited.code = WEXITSTATUS(status);
    }
    report_exit(child, std::move(exited));
    if (child.control != nullptr) poller_.remove(child.control->fd());
    for (const int fd : {child.out, child.err}) {
      if (fd >= 0) poller_.remove(fd);
    }
    by_pid_.erase(child.pid);
    if (find(child.unit, child.incarnation) == &child) by_unit_.erase(child.unit);
    children_.erase(child.serial);
  }

  void report_exit(Child& child, control::ExitedT exited) {
    exited.text = child.fault;
    tell(child, std::move(exited));
  }

  // Kills processes that `child` started, that left its group, and whose parents have ended: we have adopted them.
  void kill_orphans(const Child& child) {
    std::ifstream file("/proc/self/task/" + std::to_string(getpid()) + "/children");
    pid_t process = 0;
    while (file >> process) {
      if (!by_pid_.contains(process) && has_mark(process, child.mark)) kill(process, SIGKILL);
    }
  }

  // Kills processes that use more memory than their limit.
  void watch_memory() {
    if (now() < next_memory_) return;
    next_memory_ = kNever;
    for (const auto& [serial, child] : children_) {
      if (child->memory == 0 || !child->fault.empty()) continue;
      next_memory_ = after(kMemoryPeriod);
      const std::uint64_t used = own_memory_of(child->pid);
      if (used <= child->memory) continue;
      child->fault = "was ended by its agent: it used " + memory_text(used) + " of memory, and its " + "`memory` is " +
                     memory_text(child->memory);
      kill(-child->pid, SIGKILL);
    }
  }

  void watch_launcher() {
    const bool writable = launcher_.pending() > 0;
    if (writable == launcher_writable_) return;
    launcher_writable_ = writable;
    if (launcher_.out() == launcher_.fd()) {
      poller_.change(launcher_.fd(), kLauncher, writable);
    } else {
      poller_.change(launcher_.out(), kLauncherOutput, writable, false);
    }
  }

  Time lease_end() const { return lease_.has_value() ? heard_ + *lease_ : kNever; }

  void watch_lease() {
    if (!open_ || now() < lease_end()) return;
    log_line("the agent ends, because its launcher is silent");
    open_ = false;
  }

  // Reads no messages of nodes while many bytes wait for the launcher.
  void watch_nodes() {
    const bool hold = launcher_.pending() > 2 * kOutbox;
    if (hold == held_) return;
    held_ = hold;
    for (const auto& [serial, child] : children_) {
      watch_control(*child);
    }
  }

  // Reads no output while the launcher takes none. The pipes then fill up, and nodes that write wait.
  void watch_output() {
    const bool mute = paused_ || launcher_.pending() > kOutbox;
    if (mute == muted_) return;
    muted_ = mute;
    for (const auto& [serial, child] : children_) {
      for (const auto& [fd, source] : {std::pair(child->out, Source::out), std::pair(child->err, Source::err)}) {
        if (fd < 0) continue;
        if (mute) {
          poller_.remove(fd);
        } else {
          poller_.add(fd, tag_of(*child, source));
        }
      }
    }
  }

  template <class Body>
  void tell(const Child& child, Body body) {
    launcher_.send(pack(child.unit, child.incarnation, std::move(body)));
  }

  Child* find(std::size_t unit, std::uint32_t incarnation) {
    const auto at = by_unit_.find(unit);
    return at != by_unit_.end() && at->second->incarnation == incarnation ? at->second : nullptr;
  }

  // Kills and reaps every process below this one. First it kills the processes that it knows. When those have ended, it
  // searches for others, because a search reads about every process of the host. It searches in rounds, because a
  // process that is being killed may still fork.
  void end_everything() {
    constexpr auto kRound = std::chrono::milliseconds(20);
    constexpr auto kPatience = std::chrono::seconds(5);  // for processes that the kernel cannot end now
    constexpr auto kFirst = std::chrono::seconds(1);     // for the processes that it knows
    std::set<pid_t> known;
    for (const auto& [serial, child] : children_) {
      kill(-child->pid, SIGKILL);
      known.insert(child->pid);
    }
    if (warden_ > 0) {
      kill(warden_, SIGKILL);
      known.insert(warden_);
    }
    const Time first = after(kFirst);
    const Time deadline = after(kPatience);
    std::array<Poller::Ready, 1> ready;
    Poller signals;
    signals.add(signals_, 0);
    while (now() < deadline) {
      signals.wait(ready, after(kRound));
      signalfd_siginfo ignored;
      while (read(signals_, &ignored, sizeof ignored) == sizeof ignored) {
      }
      pid_t reaped = 0;
      while ((reaped = waitpid(-1, nullptr, WNOHANG)) > 0) known.erase(reaped);
      if (reaped < 0 && errno == ECHILD) return;
      if (!known.empty() && now() < first) continue;
      for (const pid_t process : descendants(getpid())) kill(process, SIGKILL);
    }
  }

  Poller poller_;
  MessageStream launcher_;
  const pid_t warden_;
  bool launcher_writable_ = false;
  int signals_ = -1;
  int launcher_process_ = -1;
  bool open_ = true;
  bool paused_ = false;  // the launcher has asked for a pause
  bool muted_ = false;   // no output is read
  bool held_ = false;    // no messages of nodes are read
  long memory_kills_;
  std::optional<Duration> lease_;
  Time heard_;                       // when the launcher's last message arrived
  Time next_memory_ = kNever;        // when to measure the memory of processes with a limit
  std::filesystem::path directory_;  // receives the files that nodes save; empty: they use the launcher's directory
  std::map<std::size_t, std::string> not_restored_;  // the reason, by unit
  std::uint64_t last_serial_ = kFirstSerial;
  std::unordered_map<std::uint64_t, std::unique_ptr<Child>> children_;
  std::unordered_map<pid_t, Child*> by_pid_;
  std::unordered_map<std::size_t, Child*> by_unit_;  // the newest incarnation
};

}  // namespace

namespace {

// Makes ~/.cache/lp/runs/RUN-XXXXXX for the files that nodes of a run save here, until they are sent. Returns an empty
// path, and logs why, when that is impossible.
std::filesystem::path make_own_directory(const std::string& run) {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  std::filesystem::path parent =
      cache != nullptr && *cache == '/' ? cache : (home == nullptr ? "/tmp" : home) + std::string("/.cache");
  parent /= "lp/runs";
  std::error_code error;
  std::filesystem::create_directories(parent, error);
  std::string name = parent / (run + "-XXXXXX");
  if (!error && mkdtemp(name.data()) != nullptr) return name;
  log_line("nodes on this host can save nothing: " + parent.string() + ": " + std::strerror(errno));
  return {};
}

}  // namespace

int run_agent(int control) {
  prctl(PR_SET_NAME, program_invocation_short_name);
  // Closes the descriptors that the launcher's owner had open.
  close_range(kControlDescriptor + 1, ~0U, 0);
  fcntl(control, F_SETFD, FD_CLOEXEC);
  const char* run = std::getenv("LP_RUN");
  const pid_t warden = run == nullptr ? -1 : start_warden(run_mark(run), {});
  Agent agent(control, control, std::nullopt, warden);
  agent.serve();
  return 0;
}

int run_agent_there(Duration lease) {
  prctl(PR_SET_NAME, program_invocation_short_name);
  close_range(STDERR_FILENO + 1, ~0U, 0);
  const char* run = std::getenv("LP_RUN");
  const std::filesystem::path directory = make_own_directory(run == nullptr ? "run" : run);
  const pid_t warden = run == nullptr ? -1 : start_warden(run_mark(run), directory);
  const int in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, kControlDescriptor + 1);
  const int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, kControlDescriptor + 1);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (in < 0 || out < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0) {
    log_line(std::string("the agent cannot begin: ") + std::strerror(errno));
    return 1;
  }
  Agent agent(in, out, lease, warden);
  agent.say_hello(directory);
  const bool in_order = agent.serve();
  std::error_code ignored;
  if (!directory.empty()) std::filesystem::remove_all(directory, ignored);
  return in_order ? 0 : kForsaken;
}

}  // namespace lp::internal
