#include "launchers/remote/agent_dialer.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <span>
#include <sstream>
#include <system_error>
#include <utility>

#include "launchers/agent/agent.h"
#include "launchers/control/message_stream.h"
#include "launchers/control/process_roles.h"
#include "launchers/os/signals.h"
#include "launchers/os/spawn.h"
#include "launchers/remote/tunnel.h"
#include "lp/base/error.h"
#include "lp/base/text.h"
#include "lp/rpc/tcp/router.h"

namespace lp::launch {
namespace {

constexpr const char* kCoordinator = "c";               // the coordinator's name in our router
constexpr auto kHelloPeriod = std::chrono::seconds(1);  // between two greetings without an answer
constexpr auto kTimeToPart = std::chrono::seconds(2);   // for the message to the coordinator that the agent has ended
constexpr std::size_t kLongestKeys = std::size_t{16} << 20;  // bytes
constexpr std::size_t kKeyText = 40;

enum Tag : std::uint64_t { kRouter, kInterrupts, kStream };

class AgentDialer {
 public:
  explicit AgentDialer(const DialOptions& dial) : dial_(dial), router_("", dial.keys.own) {
    router_.connect(kCoordinator, dial.coordinator, dial.keys.others.front());
    poller_.add(router_.descriptor(), kRouter);
    poller_.add(signals_.fd(), kInterrupts);
  }
  ~AgentDialer() { end_agent(); }
  AgentDialer(const AgentDialer&) = delete;
  AgentDialer& operator=(const AgentDialer&) = delete;

  int serve() {
    if (!wait_for_answer()) return over_ ? 0 : 1;
    start_agent();
    while (!tunnel_->ended_here() && !interrupted_) step(kNever);
    // When the agent has ended first, the coordinator shall get that message before the connection closes.
    for (const Time end = after(kTimeToPart); !tunnel_->ended_there() && !interrupted_ && !passed(end);) step(end);
    const int code = end_agent();
    return over_ ? 0 : code == kForsaken ? kForsaken : 1;
  }

 private:
  // Returns the agent's exit code.
  int end_agent() {
    tunnel_.reset();  // the agent ends with its connection
    int status = 0;
    if (agent_ > 0) waitpid(std::exchange(agent_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  bool wait_for_answer() {
    const Time end = after(dial_.patience);
    for (Time next{}; lease_ == 0 && !over_ && !interrupted_;) {
      if (passed(end)) {
        log_line("the agent ends, because no coordinator of this run answered at " + dial_.coordinator);
        return false;
      }
      if (passed(next)) {
        send(tunnel_message(Tunnel::Kind::hello));
        next = after(kHelloPeriod);
      }
      step(std::min(next, end));
    }
    return lease_ > 0 && !interrupted_;
  }

  void start_agent() {
    const SocketPair ends = make_socket_pair();
    const Descriptor theirs(ends.theirs);
    tunnel_.emplace(Descriptor(ends.ours), poller_, kStream, [this](Buffer message) { send(std::move(message)); });
    // Set only now: the agent's guard ends all processes that were started with this variable.
    putenv(mark_.data());
    const std::string program = std::filesystem::read_symlink("/proc/self/exe");
    agent_ = spawn_command({program, "--lp-agent=" + std::to_string(lease_)},
                           {.input = theirs.number(), .output = theirs.number()});
  }

  // Waits for an event, and handles it.
  void step(Time until) {
    receive();
    std::array<Poller::Ready, 4> ready;
    const std::size_t count = router_.readable() ? 0 : poller_.wait(ready, until);
    for (std::size_t i = 0; i < count; ++i) {
      if (ready[i].tag == kInterrupts) interrupted_ = signals_.take() != 0 || interrupted_;
      if (ready[i].tag == kStream && tunnel_->handle(ready[i])) send(tunnel_message(Tunnel::Kind::lost));
    }
    receive();
  }

  void receive() {
    rpc::Router::Arrival arrival;
    while (router_.receive(arrival)) for_each_message(arrival, [this](auto message) { handle(message); });
  }

  void handle(std::span<const std::byte> message) {
    if (kind_of(message) == Tunnel::Kind::hello && message.size() == 1 + sizeof lease_) {
      std::memcpy(&lease_, message.data() + 1, sizeof lease_);
    }
    over_ = over_ || kind_of(message) == Tunnel::Kind::over;
    if (tunnel_.has_value()) tunnel_->take(message);
  }

  void send(Buffer message) {
    const Message frames{.body = std::move(message)};
    router_.send(kCoordinator, std::span(&frames, 1), {});
  }

  const DialOptions& dial_;
  std::string mark_ = run_mark(dial_.run, dial_.host);  // stays in the environment
  SignalPoller signals_;
  Poller poller_;
  rpc::Router router_;
  std::optional<Tunnel> tunnel_;
  pid_t agent_ = -1;
  std::uint32_t lease_ = 0;  // seconds, from the coordinator's answer
  bool over_ = false;        // the run is over
  bool interrupted_ = false;
};

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::failed, path + ": " + why +
                                     "; expected the public key and the secret key of this process, then " +
                                     "the public keys of the processes that it connects to");
}

AcceptorKeys keys_of_words(std::istream& text, const std::string& source) {
  std::vector<std::string> words;
  for (std::string word; text >> word;) {
    if (word.size() != kKeyText)
      refuse(source, "it has something that is not a key");  // and the error does not show the word
    words.push_back(std::move(word));
  }
  if (words.size() < 3) refuse(source, "it has " + std::to_string(words.size()) + " keys");
  return {.own = {.public_key = words[0], .secret_key = words[1]}, .others = {words.begin() + 2, words.end()}};
}

}  // namespace

AcceptorKeys read_keys(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  std::ifstream file(path);
  if (error || !file) refuse(path, "the keys cannot be read");
  if (size > kLongestKeys) refuse(path, "it has " + std::to_string(size) + " bytes");
  return keys_of_words(file, path);
}

HostKeys read_keys_of(const std::string& host, std::istream& lines) {
  std::optional<HostKeys> found;
  // reads to the end, because the writer waits for all hosts
  for (std::string line; std::getline(lines, line) && !line.empty();) {
    std::istringstream words(line);
    HostKeys one;
    words >> one.host >> one.name;
    if (one.host != host) continue;
    one.keys = keys_of_words(words, "standard input");
    found = std::move(one);
  }
  if (!found.has_value()) refuse("standard input", "there are no keys for " + host);
  return std::move(*found);
}

std::string to_text(const HostKeys& keys) {
  std::string text = keys.host + " " + keys.name + " " + keys.keys.own.public_key + " " + keys.keys.own.secret_key;
  for (const std::string& other : keys.keys.others) text += " " + other;
  return text + "\n";
}

std::string to_text(const AcceptorKeys& keys) {
  std::string text = keys.own.public_key + "\n" + keys.own.secret_key + "\n";
  for (const std::string& other : keys.others) text += other + "\n";
  return text;
}

int dial_and_run_agent(const DialOptions& dial) { return AgentDialer(dial).serve(); }

int dial_as_asked(const std::string& who) {
  try {
    const std::size_t at = who.find('@');
    if (at == std::string::npos) throw Error(ErrorKind::failed, std::string(kDialFlag) + who + ": expected RUN@HOST");
    DialOptions dial{
        .coordinator = handed_over(kCoordinatorVariable), .run = who.substr(0, at), .host = who.substr(at + 1)};
    if (const std::string path = handed_over(kKeysVariable); path != kKeysFromInput) {
      dial.keys = read_keys(path);
    } else {
      HostKeys own = read_keys_of(dial.host, std::cin);
      dial.host = std::move(own.name);
      dial.keys = std::move(own.keys);
    }
    for (const char* variable : {kCoordinatorVariable, kKeysVariable}) unsetenv(variable);
    return dial_and_run_agent(dial);
  } catch (const std::exception& error) {
    log_line(std::string("the agent could not dial: ") + error.what());
    return 2;
  }
}

std::string handed_over(const char* variable) {
  const char* const value = std::getenv(variable);
  if (value == nullptr)
    throw Error(ErrorKind::failed,
                std::string(variable) + " is not set: this flag is only for agents that a launcher starts");
  return value;
}

}  // namespace lp::launch
