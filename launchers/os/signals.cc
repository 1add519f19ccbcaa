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

// Globals, because a signal handler can reach nothing else.
std::atomic<int> signal_pipe = -1;
std::atomic<bool> ignores_late = false;

void on_signal(int signal) {
  const int saved = errno;
  const auto number = static_cast<unsigned char>(signal);
  [[maybe_unused]] const auto size = write(signal_pipe.load(), &number, 1);
  errno = saved;
}

void on_late_signal(int signal) {
  if (ignores_late.load()) return;
  ::signal(signal, SIG_DFL);
  raise(signal);  // it takes effect when the handler returns
}

// Sets the handler of the signals that ask a run to end. Returns what they did before.
std::vector<SignalAction> handle(void (*handler)(int)) {
  std::vector<SignalAction> changed;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR2}) {
    SignalAction before{.signal = signal};
    sigaction(signal, nullptr, &before.action);
    if (before.action.sa_handler == SIG_IGN) continue;  // nohup ignores a signal this way
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(signal, &action, nullptr);
    changed.push_back(before);
  }
  return changed;
}

void restore(const std::vector<SignalAction>& before) {
  for (const SignalAction& one : before) sigaction(one.signal, &one.action, nullptr);
}

}  // namespace

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
  before_ = handle(on_signal);
}

SignalPoller::~SignalPoller() {
  restore(before_);
  signal_pipe = -1;
  close(read_);
  close(write_);
}

int SignalPoller::take() {
  unsigned char number = 0;
  return read(read_, &number, 1) == 1 ? number : 0;
}

LateSignals::LateSignals() {
  ignores_late = false;
  before_ = handle(on_late_signal);
}

LateSignals::~LateSignals() { restore(before_); }

void LateSignals::ignore() { ignores_late = true; }

}  // namespace lp::launch
