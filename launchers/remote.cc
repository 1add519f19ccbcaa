#include "launchers/remote.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <utility>

#include "launchers/control_generated.h"
#include "launchers/messages.h"
#include "launchers/spawn.h"
#include "lp/base/error.h"

namespace lp::internal {
namespace {

constexpr std::size_t kLongestGreeting = std::size_t{1} << 16;  // what a login may print before ours
constexpr std::size_t kKept = 2000;                             // bytes of standard error
constexpr std::string_view kSend = "lp-agent: send the program";
constexpr std::string_view kReady = "lp-agent: ready";

// This program, as a file that can be read, even if it was replaced.
struct Binary {
  int fd = -1;
  std::size_t size = 0;
  std::string path{};
  std::string hash{};  // SHA-256, in hexadecimal digits

  Binary();
  ~Binary() { close(fd); }
  Binary(const Binary&) = delete;
  Binary& operator=(const Binary&) = delete;
};

Binary::Binary() : fd(open("/proc/self/exe", O_RDONLY | O_CLOEXEC)) {
  const auto fail = [](const std::string& what) {
    throw Error(ErrorKind::failed, "this program cannot be copied to other hosts: " + what);
  };
  struct stat info {};
  if (fd < 0 || fstat(fd, &info) != 0) fail(std::strerror(errno));
  size = static_cast<std::size_t>(info.st_size);
  std::error_code ignored;
  path = std::filesystem::read_symlink("/proc/self/exe", ignored);
  FILE* sum = popen(("sha256sum </proc/" + std::to_string(getpid()) + "/exe").c_str(), "re");
  std::array<char, 65> digits{};
  if (sum != nullptr && std::fgets(digits.data(), digits.size(), sum) != nullptr) hash = digits.data();
  if (sum == nullptr || pclose(sum) != 0 || hash.size() != 64) fail("sha256sum does not work here");
}

// What the host's shell does: finds the program or takes it from standard input, and becomes its agent.
std::string bootstrap_of(const Binary& binary, const RemoteOptions& options, const HostSpec& host) {
  const auto lease = std::chrono::ceil<std::chrono::seconds>(options.lease).count();
  std::ostringstream script;
  script << "same() { test -x \"$1\" && test \"$(sha256sum <\"$1\" | cut -c1-64)\" = " << binary.hash << "; }; "
         << "p=" << shell_word(binary.path) << "; "
         << "if same \"$p\"; then :; else "
         << "d=\"${XDG_CACHE_HOME:-$HOME/.cache}/lp/" << binary.hash << "\"; "
         << "p=\"$d\"/" << shell_word(std::filesystem::path(binary.path).filename()) << "; "
         << "if same \"$p\"; then :; else echo " << shell_word(std::string(kSend)) << "; umask 077; "
         << "mkdir -p \"$d\" && head -c " << binary.size << " >\"$p.$$\" && chmod 700 \"$p.$$\" && same \"$p.$$\" && "
         << "mv \"$p.$$\" \"$p\" || { rm -f \"$p.$$\"; echo \"the program could not be copied to $d\" >&2; exit 1; }; "
         << "fi; fi; echo " << shell_word(std::string(kReady)) << "; export "
         << shell_word(run_mark(options.mark, host.name)) << "; exec \"$p\" --lp-agent=" << lease;
  return "exec /bin/sh -c " + shell_word(script.str());
}

// One host on its way to having an agent.
class Start {
 public:
  Start(const HostSpec& host, const CommandThere& command, const Binary& binary, const RemoteOptions& options)
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
    if (pending() && state_ == State::sending) send_binary();
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
        if (line_ == kSend) state_ = State::sending;
        if (line_ == kReady) state_ = State::hello;
        line_.clear();
      }
    }
  }

  void send_binary() {
    std::array<char, 65536> bytes;
    while (sent_ < static_cast<off_t>(binary_.size)) {
      const ssize_t got = pread(binary_.fd, bytes.data(), bytes.size(), sent_);
      if (got <= 0) break;  // the other side sees that it is short
      const ssize_t taken = ::send(fd(), bytes.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL);
      if (taken < 0 && errno == EAGAIN) return;
      if (taken < 0) break;  // it will say why
      sent_ += taken;
    }
    state_ = State::greeting;
  }

  void read_hello() {
    std::string fault;
    const bool open = control_->receive([this](auto bytes) { take_hello(bytes); }, fault);
    if (!open && pending()) problem_ = "its agent could not be started" + (fault.empty() ? "" : ": " + fault);
  }

  void take_hello(std::span<const std::uint8_t> bytes) {
    const control::Message* message = unpack(bytes);
    const control::Hello* hello = message == nullptr ? nullptr : message->body_as_Hello();
    if (hello == nullptr) {
      problem_ = "what runs there is no agent of lp";
      return;
    }
    capacity_.spec = host_;
    capacity_.memory = hello->memory();
    if (hello->directory() != nullptr) capacity_.directory = hello->directory()->str();
    if (hello->cores() != nullptr) capacity_.cores.assign(hello->cores()->begin(), hello->cores()->end());
    if (hello->gpus() != nullptr) {
      for (const auto* gpu : *hello->gpus()) capacity_.gpus.push_back(gpu->str());
    }
    if (host_.address.empty() && hello->address() != nullptr) capacity_.spec.address = hello->address()->str();
    state_ = State::there;
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
  const Binary& binary_;
  const RemoteOptions& options_;
  State state_ = State::greeting;
  pid_t process_ = -1;
  std::unique_ptr<ControlSocket> control_;
  int errors_ = -1;
  std::size_t greeting_ = 0;  // bytes that came
  std::string line_;
  off_t sent_ = 0;  // of the binary
  std::string said_;
  std::string problem_;
  HostCapacity capacity_;
};

}  // namespace

std::vector<RemoteAgent> start_agents_there(const std::vector<HostSpec>& hosts, const CommandThere& command,
                                            const RemoteOptions& options) {
  const Binary binary;
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

std::string shell_word(const std::string& text) {
  std::string word = "'";
  for (const char one : text) {
    if (one == '\'') {
      word += "'\\''";
    } else {
      word += one;
    }
  }
  return word + "'";
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
