#include "launchers/agent/agent.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "launchers/agent/agent_guard.h"
#include "launchers/agent/agent_host.h"
#include "launchers/agent/child.h"
#include "launchers/agent/child_table.h"
#include "launchers/agent/gpu_watch.h"
#include "launchers/agent/launcher_link.h"
#include "launchers/agent/leftover_processes.h"
#include "launchers/agent/stack_taker.h"
#include "launchers/control/checkpoint_transfer.h"
#include "launchers/control/control_generated.h"
#include "launchers/control/control_messages.h"
#include "launchers/control/measurement.h"
#include "launchers/control/process_roles.h"
#include "launchers/control/waits_record.h"
#include "launchers/os/descriptor_limit.h"
#include "launchers/os/process_memory.h"
#include "launchers/os/spawn.h"
#include "lp/base/scheduler.h"
#include "lp/base/text.h"
#include "lp/checkpoint/cut.h"

namespace lp::launch {
namespace {

constexpr std::size_t kMostPending = std::size_t{4}
                                     << 20;  // bytes that wait for the launcher; above it, no output is read
constexpr std::size_t kOutputAtOnce = std::size_t{1} << 16;  // bytes of a pipe, before other pipes get their turn
// bytes that are read from a pipe after its process has ended
constexpr std::size_t kMostLastOutput = std::size_t{1} << 18;
constexpr auto kMemoryPeriod = std::chrono::milliseconds(100);  // between two measurements of limited processes

// Tags in the poller: the launcher's, the signals', and one for each descriptor of a child.
enum class Source : std::uint64_t { control, out, err, stacks };
constexpr std::uint64_t kSignals = LauncherLink::kTags;
constexpr std::uint64_t kFirstSerial = 1;
static_assert(kSignals < kFirstSerial * 4);

std::uint64_t tag_of(const Child& child, Source source) {
  return child.serial * 4 + static_cast<std::uint64_t>(source);
}

class Agent {
 public:
  // Without a lease, only the end of the connection counts as the launcher's end.
  Agent(int in, int out, std::optional<Duration> lease, pid_t guard)
      : launcher_(in, out, lease, poller_, [this](auto bytes) { handle(bytes); }),
        guard_(guard),
        memory_kills_(out_of_memory_kills()) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    raise_descriptor_limit();
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    signals_ = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    poller_.add(signals_, kSignals);
  }

  // Returns false when the launcher has ended while nodes were running, or was silent for a lease. Such an end is not
  // in order.
  bool serve() {
    std::array<Poller::Ready, 64> ready;
    while (launcher_.open()) {
      const std::size_t count = poller_.wait(ready, std::min({next_memory_, gpus_.next(), launcher_.lease_end()}));
      for (std::size_t i = 0; i < count && launcher_.open(); ++i) on_ready(ready[i]);
      launcher_.advance();
      watch_memory();
      watch_gpus();
      watch_output();
      watch_nodes();
    }
    const bool in_order = children_.empty() && now() < launcher_.lease_end();
    end_everything();
    return in_order;
  }

  // Reports the resources of this host to a launcher on another one. `directory` receives the files that nodes save.
  void send_hello(const std::filesystem::path& directory) {
    directory_ = directory;
    launcher_.send(pack(0, 0, hello_of_this_host(directory)));
  }

 private:
  void on_ready(const Poller::Ready& ready) {
    if (ready.tag < LauncherLink::kTags) return launcher_.on_ready(ready);
    if (ready.tag == kSignals) return reap();
    Child* const child = children_.find(ready.tag / 4);
    if (child == nullptr) return;
    switch (static_cast<Source>(ready.tag % 4)) {
      case Source::control:
        if (ready.writable) child->control->flush();
        if (ready.readable) receive(*child);
        return watch_control(*child);
      case Source::out: return pass_output(*child, child->out, false, kOutputAtOnce);
      case Source::err: return pass_output(*child, child->err, true, kOutputAtOnce);
      case Source::stacks: return read_stacks(*child);
    }
  }

  // Handles a message of the launcher.
  void handle(std::span<const std::uint8_t> bytes) {
    const control::Message* message = unpack(bytes);
    if (message == nullptr) return launcher_.close("its launcher sent something that is not a control message");
    if (const auto* spawn = message->body_as_Spawn()) return start(*message, *spawn);
    if (const auto* piece = message->body_as_Piece()) return take_piece(*message, *piece);
    if (message->body_as_Beat() != nullptr) return launcher_.send(bytes);
    if (const auto* flow = message->body_as_Flow()) {
      paused_ = flow->paused();
    } else if (Child* child =
                   children_.find_process(message->process(), message->incarnation())) {  // else it has ended
      handle(*child, *message, bytes);
    }
  }

  void handle(Child& child, const control::Message& message, std::span<const std::uint8_t> bytes) {
    if (const auto* measure = message.body_as_Measure()) {
      const auto what = static_cast<Inquiry>(measure->what());
      if (what == Inquiry::stacks) return take_stacks(child);
      if (what == Inquiry::waits) send_threads(child);
      if (what == Inquiry::use) send_use(child);
    }
    if (message.body_as_Kill() != nullptr) {
      child.killed = true;
      kill(-child.pid, SIGKILL);
    } else if (child.control != nullptr) {
      child.control->send(bytes);
      watch_control(child);
      if (message.body_as_Stop() != nullptr) kill(-child.pid, SIGCONT);  // a stopped process could not obey
    }
  }

  void send_use(const Child& child) {
    const ProcessUse use = use_of(child.pid);
    control::UsedT used;
    used.cpu = use.cpu;
    used.memory = use.memory;
    const GpuMeasure gpus = gpus_.measure(child);
    used.gpus = gpus.uuids;
    used.gpu_busy = gpus.busy.value_or(-1);
    used.gpu_memory = gpus.memory;
    send(child, std::move(used));
  }

  void send_threads(const Child& child) {
    control::ThreadsT threads;
    threads.text = pack_threads(thread_states(child.pid));
    send(child, std::move(threads));
  }

  void take_stacks(Child& child) {
    if (child.stacks != nullptr) return;  // they are on their way
    child.stacks = std::make_unique<StackTaker>(child.pid);
    if (child.stacks->fd() < 0) return send_stacks(child);
    poller_.add(child.stacks->fd(), tag_of(child, Source::stacks));
  }

  // Reads what the command has printed, and sends it at its end.
  void read_stacks(Child& child) {
    if (child.stacks->read()) return;
    poller_.remove(child.stacks->fd());
    send_stacks(child);
  }

  void send_stacks(Child& child) {
    const Stacks stacks = child.stacks->result();
    child.stacks.reset();
    control::StacksT message;
    message.text = stacks.text;
    message.problem = stacks.problem;
    send(child, std::move(message));
  }

  void watch_control(const Child& child) {
    if (child.control == nullptr) return;
    poller_.change(child.control->fd(), tag_of(child, Source::control), child.control->pending() > 0, !held_);
  }

  // Stores a piece of a file that the next incarnation of a process loads.
  void take_piece(const control::Message& message, const control::Piece& piece) {
    if (directory_.empty() || piece.name() == nullptr) return;
    try {
      const std::filesystem::path restore = restore_directory(directory_, message.process(), message.incarnation());
      std::filesystem::create_directory(restore);
      put_piece(cut_file(restore, piece.name()->str()), piece);
    } catch (const std::exception& error) {
      not_restored_[message.process()] = error.what();
    }
  }

  void start(const control::Message& message, const control::Spawn& spawn) {
    std::unique_ptr<Child> child = start_child(message, spawn, std::exchange(not_restored_[message.process()], {}));
    child->serial = next_serial_++;
    if (child->pid < 0) return report_exit(*child, {});
    control::SpawnedT spawned;
    spawned.pid = child->pid;
    send(*child, std::move(spawned));
    poller_.add(child->control->fd(), tag_of(*child, Source::control));
    if (child->out >= 0 && !muted_) {
      poller_.add(child->out, tag_of(*child, Source::out));
      poller_.add(child->err, tag_of(*child, Source::err));
    }
    child->control->send({spawn.start()->data(), spawn.start()->size()});
    watch_control(*child);
    gpus_.add(*child);
    if (child->memory > 0) next_memory_ = std::min(next_memory_, after(kMemoryPeriod));
    children_.add(std::move(child));
  }

  void receive(Child& child) {
    std::string fault;
    const bool open = child.control->receive([&](auto bytes) { pass(child, bytes); }, fault);
    if (open && child.fault.empty()) return;
    poller_.remove(child.control->fd());
    child.control.reset();
    if (!fault.empty()) child.fault = "was killed by its agent: " + fault;
    if (!child.fault.empty()) kill(-child.pid, SIGKILL);
  }

  // Forwards a node's message to the launcher, if the node speaks only for itself.
  void pass(Child& child, std::span<const std::uint8_t> bytes) {
    const control::Message* message = unpack(bytes);
    if (message == nullptr || message->process() != child.process || message->incarnation() != child.incarnation ||
        message->body_type() < control::Body::Piece) {
      child.fault = "was killed by its agent: it sent something that is not a control message of a node";
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
      send(child, std::move(output));
      most -= std::min(most, static_cast<std::size_t>(got));
    }
  }

  // Reaps the processes that have ended. A process that is not reaped keeps its number, so our signals cannot hit
  // another process.
  void reap() {
    drain_signals(signals_);
    for (;;) {
      siginfo_t info{};
      if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return;
      if (Child* const child = children_.find_pid(info.si_pid)) {
        end(*child);
      } else {
        waitpid(info.si_pid, nullptr, WNOHANG);  // a grandchild that we adopted
      }
    }
  }

  // Finishes the end of a node's process: kills what it leaves behind, and reads its last output.
  void end(Child& child) {
    kill_leftovers(child.pid, child.mark, [this](pid_t process) { return children_.find_pid(process) != nullptr; });
    if (child.control != nullptr) receive(child);
    pass_output(child, child.out, false, kMostLastOutput);
    pass_output(child, child.err, true, kMostLastOutput);
    gpus_.poll_faults(children_.with_gpus());  // one of them may have ended it
    int status = 0;
    waitpid(child.pid, &status, 0);
    report_exit(child, exit_of(child, status));
    if (child.control != nullptr) poller_.remove(child.control->fd());
    for (const int fd : {child.out, child.err, child.stacks == nullptr ? -1 : child.stacks->fd()}) {
      if (fd >= 0) poller_.remove(fd);
    }
    children_.remove(child);
  }

  control::ExitedT exit_of(const Child& child, int status) {
    control::ExitedT exited;
    if (!WIFSIGNALED(status)) {
      exited.code = WEXITSTATUS(status);
      return exited;
    }
    exited.signal = WTERMSIG(status);
    exited.core = WCOREDUMP(status);
    if (exited.signal == SIGKILL && !child.killed) {
      const long kills = out_of_memory_kills();
      exited.out_of_memory = kills > memory_kills_;
      memory_kills_ = kills;
    }
    return exited;
  }

  void report_exit(Child& child, control::ExitedT exited) {
    exited.text = child.fault.empty() ? child.gpu_fault : child.fault;
    exited.broken_gpus = child.broken_gpus;
    send(child, std::move(exited));
  }

  // Kills processes that use more memory than their limit.
  void watch_memory() {
    if (now() < next_memory_) return;
    next_memory_ = kNever;
    for (const auto& [serial, child] : children_.all()) {
      if (child->memory == 0 || !child->fault.empty()) continue;
      next_memory_ = after(kMemoryPeriod);
      const std::uint64_t used = own_memory_of(child->pid);
      if (used <= child->memory) continue;
      child->fault = "was killed by its agent: it used " + memory_text(used) + " of memory, and its " + "`memory` is " +
                     memory_text(child->memory);
      kill(-child->pid, SIGKILL);
    }
  }

  // Kills processes whose GPU has failed, or that use more than their part of it.
  void watch_gpus() {
    if (now() < gpus_.next()) return;
    const std::vector<Child*> children = children_.with_gpus();
    gpus_.poll_faults(children);
    for (Child* child : children) {
      if (!child->fault.empty()) continue;
      const std::string why = child->gpu_fault.empty() ? gpus_.excess(*child) : child->gpu_fault;
      if (why.empty()) continue;
      child->fault = "was killed by its agent: " + why;
      kill(-child->pid, SIGKILL);
    }
  }

  // Reads no messages of nodes while many bytes wait for the launcher.
  void watch_nodes() {
    const bool hold = launcher_.pending() > 2 * kMostPending;
    if (hold == held_) return;
    held_ = hold;
    for (const auto& [serial, child] : children_.all()) {
      watch_control(*child);
    }
  }

  // Reads no output while the launcher takes none. The pipes then fill up, and nodes that write wait.
  void watch_output() {
    const bool mute = paused_ || launcher_.pending() > kMostPending;
    if (mute == muted_) return;
    muted_ = mute;
    for (const auto& [serial, child] : children_.all()) {
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
  void send(const Child& child, Body body) {
    launcher_.send(pack(child.process, child.incarnation, std::move(body)));
  }

  // Kills and reaps every process below this one.
  void end_everything() {
    std::set<pid_t> killed;
    for (const auto& [serial, child] : children_.all()) {
      kill(-child->pid, SIGKILL);
      killed.insert(child->pid);
    }
    if (guard_ > 0) {
      kill(guard_, SIGKILL);
      killed.insert(guard_);
    }
    end_descendants(std::move(killed), signals_);
  }

  Poller poller_;
  LauncherLink launcher_;
  const pid_t guard_;
  int signals_ = -1;
  bool paused_ = false;  // the launcher has asked for a pause
  bool muted_ = false;   // no output is read
  bool held_ = false;    // no messages of nodes are read
  long memory_kills_;
  Time next_memory_ = kNever;  // when to measure the memory of processes with a limit
  GpuWatch gpus_;
  std::filesystem::path directory_;  // receives the files that nodes save; empty: they use the launcher's directory
  std::map<std::size_t, std::string> not_restored_;  // the reason, by process
  std::uint64_t next_serial_ = kFirstSerial;
  ChildTable children_;
};

}  // namespace

int run_agent(int control) {
  prctl(PR_SET_NAME, program_invocation_short_name);
  // Closes the descriptors that the launcher's owner had open.
  close_range(kControlDescriptor + 1, ~0U, 0);
  fcntl(control, F_SETFD, FD_CLOEXEC);
  const char* run = std::getenv("LP_RUN");
  const pid_t guard = run == nullptr ? -1 : start_agent_guard(run_mark(run), {});
  Agent agent(control, control, std::nullopt, guard);
  agent.serve();
  return 0;
}

int run_agent_there(Duration lease) {
  prctl(PR_SET_NAME, program_invocation_short_name);
  close_range(STDERR_FILENO + 1, ~0U, 0);
  const char* run = std::getenv("LP_RUN");
  const std::filesystem::path directory = make_own_directory(run == nullptr ? "run" : run);
  const pid_t guard = run == nullptr ? -1 : start_agent_guard(run_mark(run), directory);
  const int in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, kControlDescriptor + 1);
  const int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, kControlDescriptor + 1);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (in < 0 || out < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0) {
    log_line(std::string("the agent cannot begin: ") + std::strerror(errno));
    return 1;
  }
  Agent agent(in, out, lease, guard);
  agent.send_hello(directory);
  const bool in_order = agent.serve();
  std::error_code ignored;
  if (!directory.empty()) std::filesystem::remove_all(directory, ignored);
  return in_order ? 0 : kForsaken;
}

}  // namespace lp::launch
