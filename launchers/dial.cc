#include "launchers/dial.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "launchers/control_socket.h"
#include "launchers/interrupts.h"
#include "launchers/spawn.h"
#include "launchers/tunnel.h"
#include "lp/base/error.h"
#include "lp/rpc/router.h"

namespace lp::internal {
namespace {

constexpr const char* kCoordinator = "c";                    // as our router knows it
constexpr auto kPeriod = std::chrono::seconds(1);            // between two greetings that are not answered
constexpr auto kTimeToPart = std::chrono::seconds(2);        // for the coordinator to hear that the agent has ended
constexpr std::size_t kLongestKeys = std::size_t{16} << 20;  // bytes
constexpr std::size_t kKeyText = 40;

enum Tag : std::uint64_t { kRouter, kInterrupts, kStream };

class Dialer {
 public:
  explicit Dialer(const Dial& dial) : dial_(dial), router_("", dial.keys.own) {
    router_.connect(kCoordinator, dial.coordinator, dial.keys.others.front());
    poller_.add(router_.descriptor(), kRouter);
    poller_.add(interrupts_.fd(), kInterrupts);
  }
  ~Dialer() {
    tunnel_.reset();  // the agent ends
    if (agent_ > 0) waitpid(agent_, nullptr, 0);
  }
  Dialer(const Dialer&) = delete;
  Dialer& operator=(const Dialer&) = delete;

  int serve() {
    if (!wait_for_answer()) return over_ ? 0 : 1;
    start_agent();
    while (!tunnel_->ended_here() && !interrupted_) step(kNever);
    // When the agent has ended first, the coordinator shall hear that before the connection goes.
    for (const Time end = after(kTimeToPart); !tunnel_->ended_there() && !interrupted_ && !passed(end);) step(end);
    return over_ ? 0 : 1;
  }

 private:
  bool wait_for_answer() {
    const Time end = after(dial_.patience);
    for (Time next{}; lease_ == 0 && !over_ && !interrupted_;) {
      if (passed(end)) {
        std::fprintf(stderr, "lp agent: no coordinator of this run has answered at %s\n", dial_.coordinator.c_str());
        return false;
      }
      if (passed(next)) {
        send(tunnel_message(Tunnel::Kind::hello));
        next = after(kPeriod);
      }
      step(std::min(next, end));
    }
    return lease_ > 0 && !interrupted_;
  }

  void start_agent() {
    const SocketPair ends = make_socket_pair();
    const Descriptor theirs(ends.theirs);
    tunnel_.emplace(Descriptor(ends.ours), poller_, kStream, [this](Buffer message) { send(std::move(message)); });
    // Not before: the agent's warden ends all that was started with this.
    putenv(mark_.data());
    const std::string program = std::filesystem::read_symlink("/proc/self/exe");
    agent_ = spawn_command({program, "--lp-agent=" + std::to_string(lease_)}, theirs.number(), STDERR_FILENO);
  }

  // Waits for something, and does what can be done then.
  void step(Time until) {
    receive();
    std::array<Poller::Ready, 4> ready;
    const std::size_t count = router_.readable() ? 0 : poller_.wait(ready, until);
    for (std::size_t i = 0; i < count; ++i) {
      if (ready[i].tag == kInterrupts) interrupted_ = interrupts_.take() != 0 || interrupted_;
      if (ready[i].tag == kStream) tunnel_->handle(ready[i], Tunnel::Kind::lost);
    }
    receive();
  }

  void receive() {
    Router::Arrival arrival;
    while (router_.receive(arrival)) for_each_message(arrival, [this](auto message) { hear(message); });
  }

  void hear(std::span<const std::byte> message) {
    if (kind_of(message) == Tunnel::Kind::hello && message.size() == 1 + sizeof lease_) {
      std::memcpy(&lease_, message.data() + 1, sizeof lease_);
    }
    over_ = over_ || kind_of(message) == Tunnel::Kind::over;
    if (tunnel_.has_value()) tunnel_->take(message);
  }

  void send(Buffer message) {
    const Frames frames{.body = std::move(message)};
    router_.send(kCoordinator, std::span(&frames, 1), {});
  }

  const Dial& dial_;
  std::string mark_ = run_mark(dial_.run, dial_.host);  // stays in the environment
  Interrupts interrupts_;
  Poller poller_;
  Router router_;
  std::optional<Tunnel> tunnel_;
  pid_t agent_ = -1;
  std::uint32_t lease_ = 0;  // seconds, which the coordinator says in its answer
  bool over_ = false;        // the run
  bool interrupted_ = false;
};

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::failed, path + ": " + why + "; the keys of a process are its public and its secret one, and " +
                                     "the public ones of those whom it talks to");
}

}  // namespace

ReceptionKeys read_keys(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  std::ifstream file(path);
  if (error || !file) refuse(path, "there are no keys");
  if (size > kLongestKeys) refuse(path, "it has " + std::to_string(size) + " bytes");
  std::vector<std::string> words;
  for (std::string word; file >> word;) {
    if (word.size() != kKeyText) refuse(path, "this is no key");  // and is shown to nobody
    words.push_back(std::move(word));
  }
  if (words.size() < 3) refuse(path, "it has " + std::to_string(words.size()) + " keys");
  return {.own = {.public_key = words[0], .secret_key = words[1]}, .others = {words.begin() + 2, words.end()}};
}

std::string to_text(const ReceptionKeys& keys) {
  std::string text = keys.own.public_key + "\n" + keys.own.secret_key + "\n";
  for (const std::string& other : keys.others) text += other + "\n";
  return text;
}

int dial_and_run_agent(const Dial& dial) { return Dialer(dial).serve(); }

}  // namespace lp::internal
