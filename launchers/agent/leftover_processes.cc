#include "launchers/agent/leftover_processes.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>

#include "launchers/os/spawn.h"
#include "lp/base/scheduler.h"

namespace lp::launch {
namespace {

constexpr auto kSearchPeriod = std::chrono::milliseconds(20);
constexpr auto kKillTimeout = std::chrono::seconds(1);  // for the processes that were killed first
constexpr auto kEndTimeout = std::chrono::seconds(5);   // for processes that the kernel cannot end now

}  // namespace

void kill_leftovers(pid_t group, const std::string& mark, const std::function<bool(pid_t)>& is_node) {
  kill(-group, SIGKILL);
  std::ifstream file("/proc/self/task/" + std::to_string(getpid()) + "/children");
  pid_t process = 0;
  while (file >> process) {
    if (!is_node(process) && has_mark(process, mark)) kill(process, SIGKILL);
  }
}

void end_descendants(std::set<pid_t> killed, int signals) {
  const Time search = after(kKillTimeout);
  const Time deadline = after(kEndTimeout);
  std::array<Poller::Ready, 1> ready;
  Poller poller;
  poller.add(signals, 0);
  while (now() < deadline) {
    poller.wait(ready, after(kSearchPeriod));
    drain_signals(signals);
    pid_t reaped = 0;
    while ((reaped = waitpid(-1, nullptr, WNOHANG)) > 0) killed.erase(reaped);
    if (reaped < 0 && errno == ECHILD) return;
    if (!killed.empty() && now() < search) continue;
    for (const pid_t process : descendants(getpid())) kill(process, SIGKILL);
  }
}

void drain_signals(int signals) {
  signalfd_siginfo ignored;
  while (read(signals, &ignored, sizeof ignored) == sizeof ignored) {
  }
}

}  // namespace lp::launch
