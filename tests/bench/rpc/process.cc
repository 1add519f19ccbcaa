#include "tests/bench/rpc/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <type_traits>

#include "lp/base/error.h"

namespace lp::bench {
namespace {

constexpr int kControl = 3;  // the descriptor by which a process receives its work and sends its figures
constexpr timeval kPatience{.tv_sec = 60, .tv_usec = 0};
constexpr std::size_t kLongestAddress = 256;

// Packets over a Unix socket, each a value or a text.
void put(int file, const void* data, std::size_t size) {
  if (send(file, data, size, MSG_NOSIGNAL) != static_cast<ssize_t>(size)) {
    throw Error(ErrorKind::failed, std::string("cannot write to a process: ") + std::strerror(errno));
  }
}
std::size_t take(int file, void* data, std::size_t size) {
  const ssize_t count = recv(file, data, size, 0);
  return count < 0 ? 0 : static_cast<std::size_t>(count);
}
template <class T>
bool take(int file, T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  return take(file, &value, sizeof value) == sizeof value;
}
std::string take_text(int file) {
  std::array<char, kLongestAddress> text{};
  return {text.data(), take(file, text.data(), text.size())};
}

// One process of a peer, which ends with the object.
class Child {
 public:
  Child(const std::string& binary, const std::string& peer, const std::vector<std::string>& arguments) : peer_(peer) {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      throw Error(ErrorKind::failed, std::string("no socket for a process: ") + std::strerror(errno));
    }
    control_ = ends[0];
    setsockopt(control_, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
    std::vector<std::string> words{binary, "--become-peer", std::to_string(getpid()), peer};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], kControl);
    const int error = posix_spawn(&pid_, binary.c_str(), &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error != 0) {
      close(control_);
      throw Error(ErrorKind::failed, "cannot start " + binary + ": " + std::strerror(error));
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    close(control_);
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  int pid() const { return pid_; }
  void begin(const Work& work) const { put(control_, &work, sizeof work); }
  Figures end() const {
    Figures figures;
    if (!take(control_, figures)) throw Error(ErrorKind::failed, "a process of " + peer_ + " failed");
    return figures;
  }
  // The text that it sends when it is ready.
  std::string text() const {
    std::string text = take_text(control_);
    if (text.empty()) throw Error(ErrorKind::failed, "a process of " + peer_ + " did not start");
    return text;
  }

 private:
  std::string peer_;
  int control_ = -1;
  pid_t pid_ = 0;
};

class ProcessSession final : public Session {
 public:
  ProcessSession(const std::string& binary, const std::string& peer, Size size) {
    for (int i = 0; i < size.services; ++i) {
      services_.push_back(std::make_unique<Child>(binary, peer, std::vector<std::string>{}));
    }
    std::vector<std::string> addresses;
    for (const auto& service : services_) addresses.push_back(service->text());
    for (int i = 0; i < size.callers; ++i) callers_.push_back(std::make_unique<Child>(binary, peer, addresses));
    for (const auto& caller : callers_) caller->text();
  }

  std::vector<Figures> measure(const Work& work, int callers) override {
    for (int i = 0; i < callers; ++i) callers_[static_cast<std::size_t>(i)]->begin(work);
    std::vector<Figures> figures;
    for (int i = 0; i < callers; ++i) figures.push_back(callers_[static_cast<std::size_t>(i)]->end());
    return figures;
  }

  std::vector<int> services() const override { return pids(services_); }
  std::vector<int> callers() const override { return pids(callers_); }

 private:
  using Children = std::vector<std::unique_ptr<Child>>;
  static std::vector<int> pids(const Children& children) {
    std::vector<int> result;
    for (const auto& child : children) result.push_back(child->pid());
    return result;
  }
  Children services_;
  Children callers_;
};

int serve(const Peer& peer) {
  peer.serve([](const std::string& address) { put(kControl, address.data(), address.size()); });
  return 1;
}

int call(const Peer& peer, std::span<char*> addresses) {
  std::vector<std::unique_ptr<Caller>> callers;
  for (const char* address : addresses) callers.push_back(peer.connect(address));
  constexpr std::string_view kReady = "ready";
  put(kControl, kReady.data(), kReady.size());
  for (Work work; take(kControl, work);) {
    const Figures figures = measure(work, callers);
    put(kControl, &figures, sizeof figures);
  }
  return 0;
}

}  // namespace

std::unique_ptr<Session> start_processes(const std::string& binary, const std::string& peer, Size size) {
  return std::make_unique<ProcessSession>(binary, peer, size);
}

std::optional<int> become_peer_if_asked(int argc, char** argv, std::span<const Peer> peers) {
  if (argc < 4 || std::string_view(argv[1]) != "--become-peer") return std::nullopt;
  fcntl(kControl, F_SETFD, FD_CLOEXEC);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (std::to_string(getppid()) != argv[2]) return 1;  // the parent ended before the line above
  for (const Peer& peer : peers) {
    if (peer.name != argv[3]) continue;
    try {
      return argc == 4 ? serve(peer) : call(peer, {argv + 4, static_cast<std::size_t>(argc - 4)});
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s: %s\n", argv[3], error.what());
      return 1;
    }
  }
  std::fprintf(stderr, "there is no peer %s\n", argv[3]);
  return 2;
}

}  // namespace lp::bench
