#include "launchers/live_client.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>

#include "launchers/live_server.h"
#include "lp/base/error.h"

namespace lp::internal {

LiveClient::LiveClient(const std::filesystem::path& directory) {
  std::error_code error;
  if (!std::filesystem::is_directory(directory, error)) return;
  Descriptor opened;
  const std::string name = live_address(directory, opened);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(static_cast<char*>(address.sun_path), sizeof address.sun_path - 1);
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // The kernel connects at once, or not at all.
  if (connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    socket_ = std::move(socket);
  }
}

void LiveClient::ask(std::string_view request, Time until) {
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
      return;  // next() sees the end, and what was said before it
    }
  }
}

std::optional<std::string> LiveClient::next(Time until) {
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

}  // namespace lp::internal
