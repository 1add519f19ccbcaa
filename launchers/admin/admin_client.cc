#include "launchers/admin/admin_client.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "launchers/admin/relay.h"
#include "launchers/control/message_stream.h"
#include "launchers/os/pidfd.h"
#include "launchers/os/spawn.h"
#include "lp/base/error.h"

namespace lp::launch {
namespace {
constexpr auto kCommandEndTimeout = std::chrono::seconds(2);  // for a command whose connection has ended
}

AdminClient::AdminClient(const std::vector<std::string>& command, Time until) {
  std::array<int, 2> errors{-1, -1};
  if (pipe2(errors.data(), O_CLOEXEC) != 0) {
    throw Error(ErrorKind::failed,
                std::string("no pipe could be made: ") + std::strerror(errno) + "; the limit may be `ulimit -n`");
  }
  const Descriptor error_pipe(errors[0]);
  fcntl(error_pipe.number(), F_SETFL, O_NONBLOCK);
  {
    const Descriptor to_say(errors[1]);
    const SocketPair ends = make_socket_pair();
    socket_ = Descriptor(ends.ours);
    const Descriptor theirs(ends.theirs);
    command_ = std::make_unique<Command>();
    command_->start(command, theirs.number(), to_say.number());
  }
  for (auto line = next(until); line.has_value(); line = next(until)) {  // a login may print something, too
    if (*line == kRelayReady) return;
  }
  std::array<char, 2000> bytes;
  const ssize_t got = read(error_pipe.number(), bytes.data(), bytes.size());
  trouble_.assign(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  while (!trouble_.empty() && trouble_.back() == '\n') trouble_.pop_back();
  if (trouble_.empty()) trouble_ = open() ? "the command did not answer in time" : "the command has ended";
  trouble_ = command.front() + ": " + trouble_;
  socket_ = Descriptor();
}

void AdminClient::Command::start(const std::vector<std::string>& words, int in_and_out, int errors) {
  process_ = spawn_command(words, {.input = in_and_out, .output = in_and_out, .errors = errors});
  ended_ = Descriptor(pidfd_open(process_, 0));
  poller_.add(ended_.number(), 0);
}

// The command ends with its standard input, which is closed. One that hangs is killed.
AdminClient::Command::~Command() {
  if (process_ == 0) return;
  std::array<Poller::Ready, 1> ready;
  for (const int signal : {SIGTERM, SIGKILL}) {  // SIGTERM comes first, because a killed srun leaves its step behind
    if (poller_.wait(ready, after(kCommandEndTimeout)) == 0) kill(process_, signal);
  }
  waitpid(process_, nullptr, 0);
}

void AdminClient::ask(std::string_view request, Time until) {
  std::string rest = std::string(request) + "\n";
  Poller poller;
  if (open()) poller.add(fd(), 0, /*writable=*/true, /*readable=*/false);
  while (open() && !rest.empty()) {
    const ssize_t sent = send(fd(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      rest.erase(0, static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      std::array<Poller::Ready, 1> ready;
      if (poller.wait(ready, until) == 0 && passed(until)) return;
    } else if (errno != EINTR) {
      return;  // next() finds the end, and the text before it
    }
  }
}

std::optional<std::string> AdminClient::next(Time until) {
  Poller poller;
  if (open()) poller.add(fd(), 0);
  for (;;) {
    if (const std::size_t end = inbox_.find('\n'); end != std::string::npos) {
      std::string line = inbox_.substr(0, end);
      inbox_.erase(0, end + 1);
      return line;
    }
    if (!open()) return std::nullopt;
    std::array<char, 65536> bytes;
    const ssize_t got = recv(fd(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got > 0) {
      inbox_.append(bytes.data(), static_cast<std::size_t>(got));
    } else if (got < 0 && errno == EAGAIN) {
      std::array<Poller::Ready, 1> ready;
      if (poller.wait(ready, until) == 0 && passed(until)) return std::nullopt;
    } else if (got == 0 || errno != EINTR) {
      socket_ = Descriptor();
    }
  }
}

}  // namespace lp::launch
