#include "launchers/remote.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <utility>

#include "launchers/control_generated.h"
#include "launchers/messages.h"
#include "launchers/own_binary.h"
#include "launchers/shell_word.h"
#include "launchers/spawn.h"
#include "lp/base/error.h"

namespace lp::internal {
namespace {

constexpr std::size_t kLongestGreeting = std::size_t{1} << 16;  // what a login may print before ours
constexpr std::size_t kKept = 2000;                             // bytes of standard error
constexpr std::string_view kReady = "lp-agent: ready";

// What the host's shell does: finds the program or takes it from standard input, and becomes its agent.
std::string bootstrap_of(const OwnBinary& binary, const RemoteOptions& options, const HostSpec& host) {
  const auto lease = std::chrono::ceil<std::chrono::seconds>(options.lease).count();
  return "exec /bin/sh -c " + shell_word(binary.find(binary.take()) + "echo " + shell_word(std::string(kReady)) +
                                         "; export " + shell_word(run_mark(options.mark, host.name)) +
                                         "; exec \"$p\" --lp-agent=" + std::to_string(lease));
}

// One host on its way to having an agent.
class Start {
 public:
  Start(const HostSpec& host, const CommandThere& command, const OwnBinary& binary, const RemoteOptions& options)
      : host_(host), binary_(binary), options_(options) {
    const SocketPair ends = make_socket_pair();
    control_ = std::make_unique<ControlSocket>(ends.ours, kSmallMessages);
    std::array<int, 2> errors{-1, -1};
    try {
      if (pipe2(errors.data(), O_CLOEXEC) != 0) {
        throw Error(ErrorKind::failed, std::string("pipe: ") + std::strerror(errno) + "; the limit may be `ulimit -n`");
      }
      process_ = spawn_command(command(host, bootstrap_of(binary, options, host)), ends.theirs, errors[1]);
    } catch (const Error& error) {
      problem_ = error.text();
    }
    close(ends.theirs);
    if (errors[1] >= 0) close(errors[1]);
    errors_ = errors[0];
    if (errors_ >= 0) fcntl(errors_, F_SETFL, O_NONBLOCK);
  }
  ~Start() {
    control_.reset();
    if (process_ >= 0) {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }
    if (errors_ >= 0) close(errors_);
  }
  Start(const Start&) = delete;
  Start& operator=(const Start&) = delete;

  bool pending() const { return problem_.empty() && state_ != State::there; }
  bool wants_to_write() const { return state_ == State::sending; }
  int fd() const { return control_->fd(); }
  int errors() const { return errors_; }

  // Does what can be done now.
  void advance() {
    read_errors();
    if (pending() && state_ == State::greeting) read_greeting();
    if (pending() && state_ == State::sending && binary_.send(fd(), sent_)) state_ = State::greeting;
    if (pending() && state_ == State::hello) read_hello();
  }

  void give_up(const std::string& why) {
    if (pending()) problem_ = why;
  }

  // "h2: Permission denied (publickey)."; empty: none.
  std::string problem() {
    if (problem_.empty()) return {};
    read_errors();
    while (!said_.empty() && (said_.back() == '\n' || said_.back() == '\r')) said_.pop_back();
    return host_.name + ": " + problem_ + (said_.empty() ? "" : ": " + said_);
  }

  RemoteAgent finish() {
    return {.link = std::make_unique<AgentLink>(AgentLink::Options{.host = host_.name,
                                                                   .process = std::exchange(process_, -1),
                                                                   .control = std::move(control_),
                                                                   .errors = std::exchange(errors_, -1),
                                                                   .lease = options_.lease}),
            .capacity = std::move(capacity_)};
  }

 private:
  enum class State : std::uint8_t { greeting, sending, hello, there };

  // A byte at a time, because what follows the last line is not ours to take.
  void read_greeting() {
    char one = 0;
    for (ssize_t got = 0; state_ == State::greeting;) {
      got = read(fd(), &one, 1);
      if (got < 0 && errno == EAGAIN) return;
      if (got <= 0 || ++greeting_ > kLongestGreeting) {
        problem_ = got <= 0 ? "its agent could not be started" : "its login prints without end";
        return;
      }
      if (one != '\n') {
        line_ += one;
      } else {
        if (line_ == OwnBinary::kWanted) state_ = State::sending;
        if (line_ == kReady) state_ = State::hello;
        line_.clear();
      }
    }
  }

  void read_hello() {
    std::string fault;
    const bool open = control_->receive([this](auto bytes) { take_hello(bytes); }, fault);
    if (!open && pending()) problem_ = "its agent could not be started" + (fault.empty() ? "" : ": " + fault);
  }

  void take_hello(std::span<const std::uint8_t> bytes) {
    if (auto capacity = capacity_of(host_, bytes)) {
      capacity_ = std::move(*capacity);
      state_ = State::there;
    } else {
      problem_ = "what runs there is no agent of lp";
    }
  }

  void read_errors() {
    std::array<char, 4096> bytes;
    ssize_t got = 0;
    while (errors_ >= 0 && (got = read(errors_, bytes.data(), bytes.size())) > 0) {
      said_.append(bytes.data(), static_cast<std::size_t>(got));
    }
    if (said_.size() > kKept) said_.erase(0, said_.size() - kKept);
  }

  const HostSpec& host_;
  const OwnBinary& binary_;
  const RemoteOptions& options_;
  State state_ = State::greeting;
  pid_t process_ = -1;
  std::unique_ptr<ControlSocket> control_;
  int errors_ = -1;
  std::size_t greeting_ = 0;  // bytes that came
  std::string line_;
  std::size_t sent_ = 0;  // of the binary
  std::string said_;
  std::string problem_;
  HostCapacity capacity_;
};

}  // namespace

std::optional<HostCapacity> capacity_of(const HostSpec& host, std::span<const std::uint8_t> greeting) {
  const control::Message* message = unpack(greeting);
  const control::Hello* hello = message == nullptr ? nullptr : message->body_as_Hello();
  if (hello == nullptr) return std::nullopt;
  HostCapacity capacity{.spec = host, .memory = hello->memory()};
  if (hello->directory() != nullptr) capacity.directory = hello->directory()->str();
  if (hello->cores() != nullptr) capacity.cores.assign(hello->cores()->begin(), hello->cores()->end());
  if (hello->gpus() != nullptr) {
    for (const auto* gpu : *hello->gpus()) capacity.gpus.push_back(gpu->str());
  }
  if (host.address.empty() && hello->address() != nullptr) capacity.spec.address = hello->address()->str();
  return capacity;
}

std::vector<RemoteAgent> start_agents_there(const std::vector<HostSpec>& hosts, const CommandThere& command,
                                            const RemoteOptions& options) {
  const OwnBinary binary;
  std::vector<std::unique_ptr<Start>> starts;
  for (const HostSpec& host : hosts) starts.push_back(std::make_unique<Start>(host, command, binary, options));
  const Time deadline = after(options.patience);
  std::vector<Poller::Ready> ready(hosts.size() + 1);
  for (;;) {
    Poller poller;
    bool any = false;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      starts[i]->advance();
      if (!starts[i]->pending()) continue;
      any = true;
      poller.add(starts[i]->fd(), i, starts[i]->wants_to_write(), !starts[i]->wants_to_write());
    }
    if (!any) break;
    if (poller.wait(ready, deadline) == 0 && now() >= deadline) {
      for (const auto& start : starts) start->give_up("its agent was not there in time");
    }
  }
  std::string problems;
  for (const auto& start : starts) {
    if (const std::string problem = start->problem(); !problem.empty()) problems += "\n  " + problem;
  }
  if (!problems.empty()) throw Error(ErrorKind::failed, "not every host can be used:" + problems);
  std::vector<RemoteAgent> agents;
  for (const auto& start : starts) agents.push_back(start->finish());
  return agents;
}

CommandThere by_ssh(const std::string& words) {
  std::vector<std::string> ssh;
  std::istringstream text(words);
  for (std::string word; text >> word;) ssh.push_back(word);
  if (ssh.empty()) ssh.emplace_back("ssh");
  ssh.insert(ssh.end(), {"-T", "-oBatchMode=yes", "-oConnectTimeout=15"});
  return [ssh](const HostSpec& host, const std::string& line) {
    std::vector<std::string> command = ssh;
    command.insert(command.end(), {"--", host.name, line});
    return command;
  };
}

}  // namespace lp::internal
