#include "programs/data/host_examples.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/hash.h"
#include "lp/base/scheduler.h"

namespace lp {
namespace {

constexpr int kMostWaiting = 1024;  // processes of a host that wait for the reader

struct Address {
  sockaddr_un name{};
  socklen_t size = 0;
};

// The name is in the kernel alone. It does not give the key away.
Address address_of(const std::string& key) {
  const std::string name = "lp-examples-" + std::to_string(fnv1a(key));
  Address address;
  address.name.sun_family = AF_UNIX;
  std::memcpy(address.name.sun_path + 1, name.data(), name.size());
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

Descriptor made_socket(int flags = 0) {
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
  if (!socket) throw Error(ErrorKind::failed, std::string("cannot make a socket: ") + std::strerror(errno));
  return socket;
}

// Returns true when this process is now the one that reads: it listens at the address. Returns false when another one
// does.
bool listens(const Descriptor& socket, const Address& address) {
  const auto* const name = reinterpret_cast<const sockaddr*>(&address.name);
  if (bind(socket.number(), name, address.size) == 0 && listen(socket.number(), kMostWaiting) == 0) return true;
  if (errno == EADDRINUSE) return false;
  throw Error(ErrorKind::failed,
              std::string("the processes of this host cannot share examples: ") + std::strerror(errno));
}

// Ends the connections of those that wait.
void release_waiting(const Descriptor& socket) {
  while (const Descriptor waiting{accept4(socket.number(), nullptr, nullptr, SOCK_CLOEXEC)}) {
  }
}

// Returns the examples in the memory of this process, if it has them.
std::optional<Examples> examples_of(pid_t process, const std::string& key) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/fd", error)) {
    const std::filesystem::path target = std::filesystem::read_symlink(entry.path(), error);
    if (error || !target.string().starts_with("/memfd:examples")) continue;
    if (auto found = shared_examples({.path = entry.path(), .key = key})) return found;
  }
  return std::nullopt;
}

// A connection to the reader of this host.
class FirstReader {
 public:
  // Returns none when there is no reader any more.
  static std::optional<FirstReader> connect(const Address& address) {
    FirstReader reader;
    const auto* const name = reinterpret_cast<const sockaddr*>(&address.name);
    if (::connect(reader.socket_.number(), name, address.size) != 0) return std::nullopt;
    socklen_t size = sizeof reader.peer_;
    if (getsockopt(reader.socket_.number(), SOL_SOCKET, SO_PEERCRED, &reader.peer_, &size) != 0) return std::nullopt;
    return reader;
  }
  bool is_ours() const { return peer_.uid == geteuid(); }
  pid_t process() const { return peer_.pid; }
  // Waits until the reader has read, or has ended.
  void wait() const {
    Poller poller;
    poller.add(socket_.number(), 0);
    std::array<Poller::Ready, 1> ready;
    while (poller.wait(ready, kNever) == 0) {
    }
  }

 private:
  Descriptor socket_ = made_socket();
  ucred peer_{};
};

}  // namespace

Examples HostExamples::take(const std::string& key, const std::function<Examples()>& read) {
  const Address address = address_of(key);
  for (pid_t waited_for = 0;;) {
    if (Descriptor socket = made_socket(SOCK_NONBLOCK); listens(socket, address)) {
      Examples examples = read();
      shared_ = share(examples, key);
      socket_ = std::move(socket);
      release_waiting(socket_);
      return examples;
    }
    const std::optional<FirstReader> reader = FirstReader::connect(address);
    if (!reader) continue;  // it does not listen yet, or has ended
    if (auto examples = examples_of(reader->process(), key)) return *std::move(examples);
    // It belongs to another user, or is not to be seen from here.
    if (!reader->is_ours() || reader->process() == waited_for) return read();
    reader->wait();
    waited_for = reader->process();
  }
}

}  // namespace lp
