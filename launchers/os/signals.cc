#include "launchers/os/signals.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>

#include "lp/base/error.h"

namespace lp::launch {
namespace {

std::atomic<int> signal_pipe = -1;  // a global, because a signal handler can reach nothing else

void on_signal(int signal) {
  const int saved = errno;
  const auto number = static_cast<unsigned char>(signal);
  [[maybe_unused]] const auto size = write(signal_pipe.load(), &number, 1);
  errno = saved;
}

}  // namespace

struct SignalPoller::Before {
  int signal;
  struct sigaction action;
};

SignalPoller::SignalPoller() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    throw Error(ErrorKind::failed, std::string("cannot make a pipe for signals: ") + std::strerror(errno));
  }
  int none = -1;
  if (!signal_pipe.compare_exchange_strong(none, ends[1])) {
    close(ends[0]);
    close(ends[1]);
    throw Error(ErrorKind::failed, "another run of this process handles its signals already: launch this one without");
  }
  read_ = ends[0];
  write_ = ends[1];
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR2}) {
    Before before{.signal = signal, .action = {}};
    sigaction(signal, nullptr, &before.action);
    if (before.action.sa_handler == SIG_IGN) continue;  // nohup ignores a signal this way
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigaction(signal, &action, nullptr);
    before_.push_back(before);
  }
}

SignalPoller::~SignalPoller() {
  for (const Before& before : before_) sigaction(before.signal, &before.action, nullptr);
  signal_pipe = -1;
  close(read_);
  close(write_);
}

int SignalPoller::take() {
  unsigned char number = 0;
  return read(read_, &number, 1) == 1 ? number : 0;
}

}  // namespace lp::launch
