#include "lp/rpc/shm/handshake.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/shared_heap.h"

namespace lp::rpc {
namespace {

constexpr std::uint32_t kMagic = 0x316d736c;  // "lsm1"
constexpr int kBacklog = Doorbell::kLanes;
constexpr std::size_t kMostMemory = std::size_t{1} << 46;

struct Greeting {
  std::uint32_t magic = kMagic;
  std::uint32_t lane = 0;
};

[[noreturn]] void failed(const char* what) {
  const bool ended = errno == ECONNREFUSED || errno == ECONNRESET || errno == EPIPE;
  throw Error(ended ? ErrorKind::disconnected : ErrorKind::failed,
              std::string("shared memory: ") + what + ": " + std::strerror(errno));
}

// Makes a system call, and makes it again when a signal came in between (or the process was stopped: signal(7)).
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

Descriptor local_socket() {
  Descriptor made(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made) failed("socket");
  return made;
}

// Returns an address without a file: it begins with a zero byte.
std::pair<sockaddr_un, socklen_t> address_of(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string text = "lp-" + name;
  if (text.size() + 1 > sizeof address.sun_path) {
    throw Error(ErrorKind::failed, "shared memory: the name " + name + " is too long");
  }
  std::memcpy(address.sun_path + 1, text.data(), text.size());
  return {address, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size())};
}

}  // namespace

Descriptor listen_locally(const std::string& name) {
  Descriptor listening = local_socket();
  const auto [address, size] = address_of(name);
  if (bind(listening.number(), reinterpret_cast<const sockaddr*>(&address), size) != 0) failed("bind");
  if (listen(listening.number(), kBacklog) != 0) failed("listen");
  return listening;
}

Descriptor connect_locally(const std::string& name) {
  Descriptor connected = local_socket();
  const auto [address, size] = address_of(name);
  const auto connected_now = [&, at = &address, length = size] {
    return connect(connected.number(), reinterpret_cast<const sockaddr*>(at), length);
  };
  if (uninterrupted(connected_now) != 0) failed("connect");
  return connected;
}

std::optional<Descriptor> accept_neighbour(const Descriptor& listening) {
  for (;;) {
    Descriptor accepted(accept4(listening.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!accepted) {
      if (errno == ECONNABORTED || errno == EINTR) continue;
      if (errno == EAGAIN) return std::nullopt;
      failed("accept");
    }
    ucred user{};
    socklen_t size = sizeof user;
    if (getsockopt(accepted.number(), SOL_SOCKET, SO_PEERCRED, &user, &size) != 0 || user.uid != geteuid()) continue;
    return accepted;
  }
}

void send_memory(int socket, std::uint32_t lane, const SharedMemory* lanes, const SharedMemory& bell,
                 const SharedMemory& heap) {
  std::array<int, 3> numbers{};
  std::size_t count = 0;
  if (lanes != nullptr) numbers[count++] = lanes->descriptor().number();
  numbers[count++] = bell.descriptor().number();
  numbers[count++] = heap.descriptor().number();

  Greeting greeting{.lane = lane};
  iovec bytes{.iov_base = &greeting, .iov_len = sizeof greeting};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof numbers)> room{};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = room.data();
  message.msg_controllen = CMSG_SPACE(count * sizeof(int));
  cmsghdr* const control = CMSG_FIRSTHDR(&message);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(count * sizeof(int));
  std::memcpy(CMSG_DATA(control), numbers.data(), count * sizeof(int));
  if (uninterrupted([&] { return sendmsg(socket, &message, MSG_NOSIGNAL); }) != sizeof greeting) failed("sendmsg");
}

Introduction receive_memory(const Descriptor& socket, bool dialed) {
  Greeting greeting;
  iovec bytes{.iov_base = &greeting, .iov_len = sizeof greeting};
  std::array<int, 3> numbers{};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof numbers)> room{};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = room.data();
  message.msg_controllen = CMSG_LEN(sizeof numbers);  // accepts no further descriptor, though there were room for it
  const ssize_t size = uninterrupted([&] { return recvmsg(socket.number(), &message, MSG_CMSG_CLOEXEC); });
  if (size < 0) failed("recvmsg");
  if (size == 0) throw Error(ErrorKind::disconnected, "shared memory: the other process has ended");

  std::array<Descriptor, 3> got;
  std::size_t count = 0;
  const cmsghdr* const control = CMSG_FIRSTHDR(&message);
  if (control != nullptr && control->cmsg_level == SOL_SOCKET && control->cmsg_type == SCM_RIGHTS) {
    count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    std::memcpy(numbers.data(), CMSG_DATA(control), count * sizeof(int));
    for (std::size_t i = 0; i < count; ++i) got[i] = Descriptor(numbers[i]);
  }
  const std::size_t wanted = dialed ? 3 : 2;
  if (static_cast<std::size_t>(size) != sizeof greeting || greeting.magic != kMagic || count != wanted ||
      (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 || greeting.lane >= Doorbell::kLanes) {
    throw Error(ErrorKind::failed, "shared memory: the other process is not one of lp");
  }
  const auto open = [](const Descriptor& from, SharedMemory::Access access, std::size_t least) {
    SharedMemory memory = SharedMemory::open(from, access, kMostMemory);
    if (memory.size() < least)
      throw Error(ErrorKind::failed, "shared memory: the memory of the other process is too small");
    return memory;
  };
  Introduction introduction{.lane = greeting.lane};
  if (dialed) introduction.lanes = open(got[0], SharedMemory::Access::write, sizeof(RingPair));
  introduction.neighbour.bell = open(got[wanted - 2], SharedMemory::Access::write, sizeof(Doorbell));
  introduction.neighbour.heap = open(got[wanted - 1], SharedMemory::Access::read, SharedHeap::kFront);
  return introduction;
}

}  // namespace lp::rpc
