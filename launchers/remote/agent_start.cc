#include "launchers/remote/agent_start.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "launchers/os/shell_quote.h"
#include "launchers/os/spawn.h"
#include "lp/base/error.h"

namespace lp::launch {
namespace {

constexpr std::size_t kLongestGreeting = std::size_t{1} << 16;  // a login may print text before our greeting
constexpr std::size_t kMostErrorText = 2000;                    // bytes of standard error
constexpr std::string_view kReady = "lp-agent: ready";

// The shell line of the host. It finds the program, or takes it from standard input, and becomes its agent.
std::string bootstrap_of(const Executable& binary, const RemoteOptions& options, const HostSpec& host) {
  const auto lease = std::chrono::ceil<std::chrono::seconds>(options.lease).count();
  return "exec /bin/sh -c " + shell_quote(binary.find(binary.take()) + "echo " + shell_quote(std::string(kReady)) +
                                          "; export " + shell_quote(run_mark(options.mark, host.name)) +
                                          "; exec \"$p\" --lp-agent=" + std::to_string(lease));
}

// Standard error of a host, with the host's refusal before the lines that its login printed.
std::string refusal_first(std::string text) {
  const std::size_t mark = text.find(Executable::kRefused);
  if (mark == std::string::npos) return text;
  const std::size_t end = std::min(text.find('\n', mark), text.size());
  const std::size_t begin = mark + Executable::kRefused.size();
  const std::string refusal = text.substr(begin, end - begin);
  text.erase(mark, end - mark + 1);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.empty() ? refusal : refusal + "; it printed: " + text;
}

}  // namespace

AgentStart::AgentStart(const HostSpec& host, const CommandThere& command, const Executable& binary,
                       const RemoteOptions& options)
    : host_(host), binary_(binary), options_(options) {
  const SocketPair ends = make_socket_pair();
  control_ = std::make_unique<MessageStream>(ends.ours, kSmallMessages);
  std::array<int, 2> errors{-1, -1};
  try {
    if (pipe2(errors.data(), O_CLOEXEC) != 0) {
      throw Error(ErrorKind::failed,
                  std::string("no pipe could be made: ") + std::strerror(errno) + "; the limit may be `ulimit -n`");
    }
    process_ = spawn_command(command(host, bootstrap_of(binary, options, host)),
                             {.input = ends.theirs, .output = ends.theirs, .errors = errors[1]});
  } catch (const Error& error) {
    problem_ = error.text();
  }
  close(ends.theirs);
  if (errors[1] >= 0) close(errors[1]);
  errors_ = errors[0];
  if (errors_ >= 0) fcntl(errors_, F_SETFL, O_NONBLOCK);
}

AgentStart::~AgentStart() {
  control_.reset();
  if (process_ >= 0) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  if (errors_ >= 0) close(errors_);
}

void AgentStart::advance() {
  read_errors();
  if (pending() && state_ == State::greeting) read_greeting();
  if (pending() && state_ == State::sending && binary_.send(fd(), sent_)) state_ = State::greeting;
  if (pending() && state_ == State::hello) read_hello();
}

void AgentStart::give_up(const std::string& why) {
  if (pending()) problem_ = why;
}

std::string AgentStart::problem() {
  if (problem_.empty()) return {};
  read_errors();
  while (!error_text_.empty() && (error_text_.back() == '\n' || error_text_.back() == '\r')) error_text_.pop_back();
  return host_.name + ": " + problem_ + (error_text_.empty() ? "" : ": " + refusal_first(error_text_));
}

RemoteAgent AgentStart::finish() {
  return {.link = std::make_unique<AgentLink>(AgentLink::Options{.host = host_.name,
                                                                 .process = std::exchange(process_, -1),
                                                                 .control = std::move(control_),
                                                                 .errors = std::exchange(errors_, -1),
                                                                 .lease = options_.lease}),
          .capacity = std::move(capacity_)};
}

// Reads a byte at a time, because the bytes after the last line belong to the next reader.
void AgentStart::read_greeting() {
  char one = 0;
  for (ssize_t got = 0; state_ == State::greeting;) {
    got = read(fd(), &one, 1);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0 || ++greeting_ > kLongestGreeting) {
      problem_ = got <= 0 ? "its agent could not be started" : "its login prints too much text before the agent starts";
      return;
    }
    if (one != '\n') {
      line_ += one;
    } else {
      if (line_ == Executable::kWanted) state_ = State::sending;
      if (line_ == kReady) state_ = State::hello;
      line_.clear();
    }
  }
}

void AgentStart::read_hello() {
  std::string fault;
  const bool open = control_->receive([this](auto bytes) { take_hello(bytes); }, fault);
  if (!open && pending()) problem_ = "its agent could not be started" + (fault.empty() ? "" : ": " + fault);
}

void AgentStart::take_hello(std::span<const std::uint8_t> bytes) {
  if (auto capacity = capacity_of(host_, bytes)) {
    capacity_ = std::move(*capacity);
    state_ = State::there;
  } else {
    problem_ = "the process there is not an agent of lp";
  }
}

void AgentStart::read_errors() {
  std::array<char, 4096> bytes;
  ssize_t got = 0;
  while (errors_ >= 0 && (got = read(errors_, bytes.data(), bytes.size())) > 0) {
    error_text_.append(bytes.data(), static_cast<std::size_t>(got));
  }
  if (error_text_.size() > kMostErrorText) error_text_.erase(0, error_text_.size() - kMostErrorText);
}

}  // namespace lp::launch
