#include "launchers/agent/agent_guard.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "launchers/os/pidfd.h"
#include "launchers/os/spawn.h"
#include "lp/base/scheduler.h"
#include "lp/base/text.h"

namespace lp::launch {
namespace {

[[noreturn]] void watch_agent(pid_t agent, const std::string& mark, const std::filesystem::path& directory) {
  setsid();
  prctl(PR_SET_NAME, "lp-guard");
  close_range(0, ~0U, 0);
  const int process = pidfd_open(agent, 0);
  if (process >= 0 && getppid() == agent) {
    Poller poller;
    poller.add(process, 0);
    std::array<Poller::Ready, 1> ready;
    while (poller.wait(ready, kNever) == 0) {
    }
  }
  kill_marked(mark);
  std::error_code ignored;
  if (!directory.empty()) std::filesystem::remove_all(directory, ignored);
  _exit(0);
}

}  // namespace

pid_t start_agent_guard(const std::string& mark, const std::filesystem::path& directory) {
  const pid_t agent = getpid();
  const pid_t guard = fork();
  if (guard == 0) watch_agent(agent, mark, directory);
  if (guard < 0) log_line(std::string("the agent has no guard, because fork failed: ") + std::strerror(errno));
  return guard;
}

}  // namespace lp::launch
