// A stream socket, of the Unix domain or TCP: a head and the data, one write and at least one read for each message.

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "lp/base/error.h"
#include "tests/bench/rpc/raw_peers.h"

namespace lp::bench {
namespace {

constexpr std::size_t kPart = 512 << 10;

struct Head {
  std::uint64_t number = 0;
  std::uint64_t size = 0;
};

void fail(const std::string& what) { throw Error(ErrorKind::failed, what + ": " + std::strerror(errno)); }

struct Address {
  sockaddr_storage bytes{};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&bytes); }
};

// An abstract address: it needs no file and ends with its socket.
struct Unix {
  static constexpr int kFamily = AF_UNIX;
  static std::string free_name() { return "lp_bench_" + std::to_string(getpid()); }
  static Address address(const std::string& name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    Address result{.bytes = {}, .size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())};
    std::memcpy(&result.bytes, &address, sizeof address);
    return result;
  }
  static std::string name_of(int, const std::string& name) { return name; }
};

// A port of 127.0.0.1.
struct Tcp {
  static constexpr int kFamily = AF_INET;
  static std::string free_name() { return "0"; }
  static Address address(const std::string& port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(port)));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    Address result{.bytes = {}, .size = sizeof address};
    std::memcpy(&result.bytes, &address, sizeof address);
    return result;
  }
  static std::string name_of(int listener, const std::string&) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    if (getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0) fail("no name of a socket");
    return std::to_string(ntohs(address.sin_port));
  }
};

template <class Domain>
int make_socket() {
  const int file = socket(Domain::kFamily, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (file < 0) fail("cannot make a socket");
  return file;
}

void send_at_once(int file) {
  const int yes = 1;  // no effect in the Unix domain
  setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

void write_message(int file, Head head, std::span<const std::uint8_t> data) {
  std::array<iovec, 2> parts{iovec{&head, sizeof head}, iovec{const_cast<std::uint8_t*>(data.data()), data.size()}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  while (parts[0].iov_len + parts[1].iov_len > 0) {
    const ssize_t written = sendmsg(file, &message, MSG_NOSIGNAL);
    if (written < 0) fail("cannot write to a socket");
    auto left = static_cast<std::size_t>(written);
    for (iovec& part : parts) {
      const std::size_t taken = std::min(left, part.iov_len);
      part = {static_cast<std::byte*>(part.iov_base) + taken, part.iov_len - taken};
      left -= taken;
    }
  }
}

// Returns false at the end of the stream. It reads in parts, because TCP takes them faster than a whole that does not
// fit its buffers.
bool read_all(int file, void* data, std::size_t size) {
  for (std::size_t done = 0; done < size;) {
    const std::size_t part = std::min(size - done, kPart);
    const ssize_t count = recv(file, static_cast<std::byte*>(data) + done, part, MSG_WAITALL);
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

// Answers one message. Returns false when the caller is gone.
bool answer(int file, std::span<std::uint8_t> buffer) {
  Head head;
  if (!read_all(file, &head, sizeof head) || !read_all(file, buffer.data(), head.size)) return false;
  const std::span<const std::uint8_t> data = head.size == 0 ? bulk().span() : buffer.first(head.size);
  write_message(file, {.number = head.number, .size = data.size()}, data);
  return true;
}

template <class Domain>
void serve(const std::function<void(const std::string&)>& ready) {
  const std::string name = Domain::free_name();
  const Address address = Domain::address(name);
  const int listener = make_socket<Domain>();
  if (bind(listener, address.get(), address.size) != 0 || listen(listener, SOMAXCONN) != 0) {
    fail("cannot listen on a socket");
  }
  ready(Domain::name_of(listener, name));
  std::vector<std::uint8_t> buffer(kLargest);
  std::vector<pollfd> files{{listener, POLLIN, 0}};
  for (;;) {
    poll(files.data(), files.size(), -1);
    for (std::size_t i = 1; i < files.size(); ++i) {
      if (files[i].revents == 0 || answer(files[i].fd, buffer)) continue;
      close(files[i].fd);
      files[i].fd = -1;  // poll ignores it
    }
    if (files[0].revents == 0) continue;
    files.push_back({accept4(listener, nullptr, nullptr, SOCK_CLOEXEC), POLLIN, 0});
    send_at_once(files.back().fd);
  }
}

class SocketCaller final : public Caller {
 public:
  explicit SocketCaller(int connected) : file_(connected) {}
  ~SocketCaller() override { close(file_); }
  void send(const Message& request) override {
    write_message(file_, {.number = request.number, .size = request.data.size()}, request.data);
  }
  Reply receive(std::span<std::uint8_t> buffer) override {
    Head head;
    if (!read_all(file_, &head, sizeof head) || !read_all(file_, buffer.data(), head.size)) fail("the server is gone");
    return {.number = head.number, .data = buffer.first(head.size)};
  }

 private:
  int file_;
};

template <class Domain>
std::unique_ptr<Caller> connect(const std::string& name) {
  const int file = make_socket<Domain>();
  const Address address = Domain::address(name);
  if (::connect(file, address.get(), address.size) != 0) fail("cannot connect to " + name);
  send_at_once(file);
  return std::make_unique<SocketCaller>(file);
}

}  // namespace

Peer unix_peer() { return {.name = "unix socket", .serve = serve<Unix>, .connect = connect<Unix>}; }
Peer tcp_peer() { return {.name = "tcp socket", .serve = serve<Tcp>, .connect = connect<Tcp>}; }

}  // namespace lp::bench
